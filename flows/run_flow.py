"""A flow that does not index, run by a command: what is common to materializing, refreshing and checking.

What makes a run impossible, and what there is to do, is looked for before Prefect takes its time to start;
a run with nothing to do goes without it. However the run ends, somebody is told who wants to know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shadowzarr.errors import ShadowzarrError, UsageError

from .flow_end import FlowEnd
from .notify import Notifier, breaking
from .stop_run import RunStop
from .warning_lines import warn
from .watched_run import WatchedRun, watching

if TYPE_CHECKING:
    from .json_lines import JsonLines
    from .materialize_config import MaterializeAssetsConfig
    from .refresh_config import RefreshIcechunkConfig
    from .verify_config import VerifyOutputsConfig
    from .watch_config import WatchDeploymentsConfig

    type WatchedConfig = (
        MaterializeAssetsConfig | RefreshIcechunkConfig | VerifyOutputsConfig | WatchDeploymentsConfig
    )


@dataclass(frozen=True)
class FlowCommand[S]:
    """How a flow is run.

    Attributes
    ----------
    look : callable
        Finds what makes the run impossible; gives its summary when there is nothing to do, else None.
    load : callable
        Imports the flow; gives what is called with the configuration and gives the summary.
    summary : type
        Of the summary.
    end : callable
        Says of a summary how the run ended.
    stays : str
        What there is to say of a run that is stopped.
    let_go : callable
        Gives back what a run holds that is stopped.
    """

    look: Callable[[], S | None]
    load: Callable[[], Callable[[Any], object]]
    summary: type[S]
    end: Callable[[S], FlowEnd]
    stays: str
    let_go: Callable[[], None] = lambda: None


def run_flow[S](config: WatchedConfig, command: FlowCommand[S], lines: JsonLines | None) -> S:
    """Run a flow; the last JSON line is written, and somebody told.

    Raises
    ------
    ShadowzarrError
        When the run is impossible.
    """
    start = time.perf_counter()
    notifier = Notifier(config.notify, flow=config.flow, configuration=config.source)
    run = WatchedRun(notifier=notifier, json_lines=lines, stays=command.stays, let_go=command.let_go)
    warn(*config.warnings)
    with telling(notifier):
        summary = command.look()
        if summary is None:
            summary = _under_prefect(config, run, command)
        end, seconds = command.end(summary), round(time.perf_counter() - start, 3)
        if notifier.is_wanted(is_failure=end.is_failure):
            tell(notifier, lambda has_prefect: end.tell(notifier, seconds=seconds, has_prefect=has_prefect))
    if lines is not None:
        lines.end_of_flow(end, seconds=seconds, warnings=config.warnings)
    return summary


@contextmanager
def telling(notifier: Notifier) -> Iterator[None]:
    """Have somebody told what breaks a run off inside, unless they were; it goes on."""
    try:
        yield
    except Exception as error:
        text = breaking(error)
        tell(notifier, lambda has_prefect: notifier.tell(text, has_prefect=has_prefect))
        raise


def tell(notifier: Notifier, tell_it: Callable[[bool], object]) -> None:
    """Have somebody told outside of a flow; a block is known to Prefect alone, which is started for it.

    Parameters
    ----------
    notifier : Notifier
    tell_it : callable
        Tells; called with whether Prefect is there.
    """
    if not notifier.wants_prefect:
        tell_it(False)
        return
    from .under_prefect import under_prefect

    try:
        with under_prefect(lambda reason: None):
            tell_it(True)
    except ShadowzarrError:
        tell_it(False)  # says that the block could not be


def _under_prefect[S](config: WatchedConfig, run: WatchedRun, command: FlowCommand[S]) -> S:
    from .under_prefect import api_errors, under_prefect

    stop = run.stop = RunStop()
    with (
        stop.listening(),
        watching(run),
        under_prefect(lambda reason: stop.stop(reason, exit_code=1)) as is_temporary,
    ):
        run.has_prefect_server = not is_temporary
        flow = command.load()
        stop.listen()  # Prefect has taken the signals meanwhile
        with api_errors():
            summary = flow(config)
    if not isinstance(summary, command.summary):
        raise UsageError(f"the flow ended without a summary: {summary}")
    return summary
