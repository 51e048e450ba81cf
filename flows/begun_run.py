"""A run that is begun before Prefect is there, and that the flow then goes on with.

The output is held from the first moment to the last, so that a second run is refused at once and not
after Prefect has started. A flow that is called without this begins its run itself.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from shadowzarr.catalog.index_run import RunLog, output_session
from shadowzarr.catalog.publish import clear_staging
from shadowzarr.catalog.request import IndexRequest
from shadowzarr.catalog.run_summary import RunSummary
from shadowzarr.catalog.run_words import RunWords
from shadowzarr.catalog.stages import Workshop
from shadowzarr.errors import OutputError, PoolClosedError

from .notify import Notifier
from .stop_run import NOTHING_STARTED, RunStop
from .untold import UntoldFailures
from .watched_run import WatchedRun

PUBLISH_SECONDS = 5.0
"""How long publications that have begun may take; they are renames."""


@dataclass
class BegunRun(WatchedRun):
    """A run whose output is held; more attributes as of `WatchedRun`.

    Attributes
    ----------
    request : IndexRequest
    log : RunLog
        What is known so far; with versions and plan when these were looked for.
    is_planned : bool
        Whether the plan is made.
    prefect_start : float, optional
        When Prefect began to start, by `time.perf_counter`.
    workshop : Workshop, optional
        What its assets share, once there is one.
    untold : UntoldFailures, optional
        What runs before it have told nobody, once its output is held.
    words : RunWords
        What its assets are called.
    """

    request: IndexRequest
    log: RunLog
    is_planned: bool = False
    prefect_start: float | None = None
    workshop: Workshop | None = None
    untold: UntoldFailures | None = None
    words: RunWords = field(default_factory=RunWords)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do, as far as is known."""
        return self.is_planned and not self.log.plan.work

    @property
    def how_far(self) -> str:
        """How many assets are done."""
        planned = len(self.log.plan.work)
        if not planned:
            return NOTHING_STARTED
        return f"{len(self.log.records):,} of {self.words.counted(planned)} done; run again to go on"

    def leave(self) -> None:
        """End publications that have begun, kill the processes that read, clear staging, give locks back."""
        if self.workshop is not None and not self.workshop.stop(timeout=PUBLISH_SECONDS):
            raise OutputError(f"one {self.words.noun} is still being published")
        for layout in self.request.layouts:
            clear_staging(layout)
            layout.store.let_go()
        super().leave()

    def tell_end(
        self, notifier: Notifier, summary: RunSummary, *, report: str, has_prefect: bool = True
    ) -> None:
        """Have somebody told how the run ended, and what none before it told; arguments as the notifier's."""
        untold = [] if self.untold is None else self.untold.of(summary)
        is_told = notifier.ended(summary, report=report, has_prefect=has_prefect, untold=untold)
        if is_told and self.untold is not None:
            self.untold.clear()

    @contextlib.contextmanager
    def finishing(self) -> Iterator[None]:
        """Write inside what a run leaves in the end; who stops the run waits for it, or is waited for."""
        self.wait_when_stopping()
        with contextlib.ExitStack() as stack:
            try:
                if self.workshop is not None:
                    stack.enter_context(self.workshop.publication())
            except PoolClosedError:
                self.wait_when_stopping()
                raise
            yield


_BEGUN: ContextVar[BegunRun | None] = ContextVar("begun_run", default=None)


@contextlib.contextmanager
def begin_run(
    request: IndexRequest, log: RunLog | None = None, *, stop: RunStop | None = None
) -> Iterator[BegunRun]:
    """Hold the output; a flow that is called inside goes on with this run.

    Parameters
    ----------
    request : IndexRequest
    log : RunLog, optional
        Where to note what is found.
    stop : RunStop, optional
        What may end the run from outside.

    Raises
    ------
    OutputBusyError
        When another run holds the output.
    OutputError
        When it cannot be written.
    """
    begun = BegunRun(request, log or RunLog(), stop=stop)
    with output_session(request):
        begun.untold = UntoldFailures(request.public, request.names)
        token = _BEGUN.set(begun)
        if stop is not None:
            stop.run = begun
        try:
            yield begun
        finally:
            begun.wait_when_stopping()  # who stops it still needs the lock of the output
            if stop is not None:
                stop.run = None
            _BEGUN.reset(token)


@contextlib.contextmanager
def join_run(request: IndexRequest) -> Iterator[BegunRun]:
    """Go on with the run that was begun for this request, or begin one; errors as in `begin_run`."""
    begun = _BEGUN.get()
    if begun is None or begun.request != request:
        with begin_run(request) as own:
            yield own
        return
    begun.log = replace(begun.log, records=[])
    if begun.prefect_start is not None:
        begun.log.startup_seconds = time.perf_counter() - begun.prefect_start
    if begun.stop is not None:
        begun.stop.listen()
    yield begun
