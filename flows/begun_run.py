"""A run that is begun before Prefect is there, and that the flow then goes on with.

The output is held from the first moment to the last, so that a second run is refused at once and not
after Prefect has started. A flow that is called without this begins its run itself.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace

from shadowzarr.catalog.index_run import RunLog, output_session
from shadowzarr.catalog.request import IndexRequest


@dataclass
class BegunRun:
    """A run whose output is held.

    Attributes
    ----------
    request : IndexRequest
    log : RunLog
        What is known so far; with versions and plan when these were looked for.
    is_planned : bool
        Whether the plan is made.
    prefect_start : float, optional
        When Prefect began to start, by `time.perf_counter`.
    """

    request: IndexRequest
    log: RunLog
    is_planned: bool = False
    prefect_start: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do, as far as is known."""
        return self.is_planned and not self.log.plan.work


_BEGUN: ContextVar[BegunRun | None] = ContextVar("begun_run", default=None)


@contextlib.contextmanager
def begin_run(request: IndexRequest, log: RunLog | None = None) -> Iterator[BegunRun]:
    """Hold the output; a flow that is called inside goes on with this run.

    Raises
    ------
    OutputBusyError
        When another run holds the output.
    OutputError
        When it cannot be written.
    """
    begun = BegunRun(request, log or RunLog())
    with output_session(request):
        token = _BEGUN.set(begun)
        try:
            yield begun
        finally:
            _BEGUN.reset(token)


@contextlib.contextmanager
def join_run(request: IndexRequest) -> Iterator[BegunRun]:
    """Go on with the run that was begun for this request, or begin one; errors as in `begin_run`."""
    begun = _BEGUN.get()
    if begun is None or begun.request != request:
        with begin_run(request) as own:
            yield own
        return
    log = replace(begun.log, records=[])
    if begun.prefect_start is not None:
        log.startup_seconds = time.perf_counter() - begun.prefect_start
    yield replace(begun, log=log)
