"""A flow run that does not index, and all who watch it: people, programs, Prefect's page, who is notified."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Crashed

from .artifacts import ProgressArtifact, leave_artifacts
from .crash_hook import NotifiedConfig, notifying
from .flow_end import FlowEnd
from .notify import Notifier
from .show_progress import things_progress
from .things import Things
from .watched_run import WatchedRun, watched_run


@dataclass(frozen=True)
class WatchedFlow:
    """A flow run that is going on.

    Attributes
    ----------
    flow : str
        Name of the flow, as in configurations.
    run : WatchedRun
    notifier : Notifier
    start : float
        By `time.perf_counter`.
    """

    flow: str
    run: WatchedRun
    notifier: Notifier
    start: float = field(default_factory=time.perf_counter)

    @contextlib.contextmanager
    def following[R](self, things: Things[R]) -> Iterator[Callable[[R], None]]:
        """Show how far the run is; gives what is called with each thing that has ended."""
        artifact = ProgressArtifact(self.flow, len(things.sizes), things.plural)
        with things_progress(things, self.run) as progress:

            def ended(thing: R) -> None:
                self.run.wait_when_stopping()
                progress.ended(thing)
                artifact.asset_ended()

            yield ended

    def ended(
        self, summary: Any, end: FlowEnd, *, markdown: str, failures: Sequence[dict[str, Any]]
    ) -> State[Any]:
        """Tell how the run ended, and leave that on Prefect's page.

        Parameters
        ----------
        summary
            The result of the completed state.
        end : FlowEnd
        markdown : str
            The summary for Prefect's page.
        failures : sequence of dict
            Rows of its table of failures.
        """
        end.tell(self.notifier, seconds=round(time.perf_counter() - self.start, 3))
        leave_artifacts(self.flow, markdown, failures=failures, report=end.report)
        name = "CompletedWithFailures" if failures else "Completed"
        return Completed(name=name, message=end.text, data=summary)


@contextlib.contextmanager
def watched_flow(config: NotifiedConfig) -> Iterator[WatchedFlow]:
    """Have all told who watch, also when the run breaks off inside or is stopped."""
    run = watched_run()
    with watching(config, run) as notifier:
        yield WatchedFlow(config.flow, run, notifier)


@contextlib.contextmanager
def watching(config: NotifiedConfig, run: WatchedRun) -> Iterator[Notifier]:
    """Have the server told when a run is stopped, and somebody notified how it ended."""
    if run.has_prefect_server:
        run.report_stop = _stop_reporter()
    with notifying(config, run.notifier) as notifier:
        yield notifier


def _stop_reporter() -> Callable[[str], None]:
    """Return a function that tells the server that this flow run was stopped, from any thread."""
    flow_run_id = UUID(flow_run.id)

    def report(reason: str) -> None:
        # A server that does not answer may be the very reason.
        with contextlib.suppress(httpx.HTTPError), get_client(sync_client=True) as client:
            client.set_flow_run_state(flow_run_id, Crashed(message=reason), force=True)

    return report
