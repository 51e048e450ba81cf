"""A run that converts: recordings taken through their stages, so many at once; each ends as a record."""

from __future__ import annotations

import contextlib
import queue
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..catalog.asset_window import StageEnd, StageRunner, ThreadStages
from ..catalog.child_pool import ChildPool
from ..catalog.index_run import RunLog, open_workshop, output_session, summarise_run, update_catalogs
from ..catalog.layout import OutputLayout, layout_at
from ..catalog.plan import AssetWork
from ..catalog.publish import clear_staging, remove_empty_staging
from ..catalog.records import IndexRecord
from ..catalog.run_summary import RunSummary
from ..catalog.stages import error_summary, verification_of
from .jobs import ENVIRONMENT, PRELOAD
from .plan import plan_recordings
from .request import ConversionRequest
from .stages import FUNCTIONS, STAGES, ConversionBench, ConversionResults, failure_record

FLOW = "convert_recordings"


def convert_recordings(request: ConversionRequest, *, pool: ChildPool | None = None) -> RunSummary:
    """Convert recordings from a plain script, without an orchestrator.

    Parameters
    ----------
    request : ConversionRequest
    pool : ChildPool, optional
        Processes to use, which stay; by default new ones, which end with the run.

    Returns
    -------
    RunSummary

    Raises
    ------
    ShadowzarrError
        When the run as a whole is impossible. A failing recording ends as a record.
    """
    log = RunLog()
    with output_session(request.run), stores_session(request):
        plan_recordings(request, log)
        with contextlib.nullcontext(pool) if pool is not None else conversion_pool(request) as processes:
            bench = open_bench(request, processes)
            with ThreadStages(bench, request.run.window, FUNCTIONS.__getitem__) as runner:
                log.records = list(run_recordings(log.plan.work, runner, request))
        warnings = update_catalogs(request.run)
    return summarise_run(request.run, log, flow=FLOW, warnings=warnings)


def conversion_pool(request: ConversionRequest) -> ChildPool:
    """Return the processes that convert; not started yet."""
    run = request.run
    return ChildPool(
        run.processes,
        timeout=run.timeout,
        memory_limit=run.memory_limit,
        preload=PRELOAD,
        environment=ENVIRONMENT,
    )


def open_bench(request: ConversionRequest, pool: ChildPool) -> ConversionBench:
    """Put together what all recordings of a run share."""
    recordings = {each.path: each for each in request.recordings}
    return ConversionBench(open_workshop(request.run, pool), request.rules, recordings)


@contextlib.contextmanager
def stores_session(request: ConversionRequest) -> Iterator[None]:
    """Hold the folder of ordinary files, if there is one, cleared of what an interrupted run left.

    Raises
    ------
    OutputBusyError
        When another run holds it.
    OutputError
        When it cannot be written.
    """
    if request.rules.stores is None:
        yield
        return
    layout: OutputLayout = layout_at(request.rules.stores)
    with layout.store.held():
        clear_staging(layout)
        try:
            yield
        finally:
            remove_empty_staging(layout)


def run_recordings(
    work: Iterable[AssetWork], runner: StageRunner, request: ConversionRequest
) -> Generator[IndexRecord]:
    """Take recordings through their stages and give each one's record as it ends.

    Parameters
    ----------
    work : iterable of AssetWork
        Taken from as places free up.
    runner : StageRunner
        Runs the stages of `FUNCTIONS`.
    request : ConversionRequest
        Says how many are in flight at once, and which stages there are.
    """
    stages = [stage for stage in STAGES if stage != "store" or request.rules.store is not None]
    waiting, run = deque(work), _Window(runner, stages)
    while waiting or run.in_flight:
        while waiting and run.in_flight < request.run.window:
            run.enter(waiting.popleft())
        record = run.next_ended()
        if record is None:
            continue
        yield record
        if request.run.stop_on_error and record.outcome == "failed":
            waiting.clear()


@dataclass
class _InFlight:
    work: AssetWork
    stage: str
    results: ConversionResults


class _Window:
    """Recordings in flight; stages are begun from the one thread that asks, as orchestrators want it."""

    def __init__(self, runner: StageRunner, stages: Sequence[str]) -> None:
        self.in_flight = 0
        self._runner = runner
        self._stages = [*stages, "publish"]
        self._ended: queue.SimpleQueue[tuple[_InFlight, StageEnd]] = queue.SimpleQueue()

    def enter(self, work: AssetWork) -> None:
        """Start a recording."""
        self.in_flight += 1
        self._submit(_InFlight(work, self._stages[0], ConversionResults()), (work,))

    def next_ended(self) -> IndexRecord | None:
        """Wait for a stage to end and start the next; gives the record when it was the last."""
        recording, end = self._ended.get()
        work, stage = recording.work, recording.stage
        if stage == "record" or (stage == "publish" and end.error is None):
            self.in_flight -= 1
            if end.error is None:
                record: IndexRecord = end.value
                return record
            return failure_record(work, recording.results, error_summary(stage, end.error))
        if end.error is not None:
            failure, found = error_summary(stage, end.error), verification_of(end.error)
            recording.stage = "record"
            self._submit(recording, (work, recording.results, failure, found))
            return None
        recording.results = recording.results.having(stage, end.value)
        recording.stage = self._stages[self._stages.index(stage) + 1]
        is_last = recording.stage == "publish"
        self._submit(recording, (work, recording.results) if is_last else (work,))
        return None

    def _submit(self, recording: _InFlight, arguments: tuple[Any, ...]) -> None:
        self._runner.submit(recording.stage, arguments, lambda end: self._ended.put((recording, end)))
