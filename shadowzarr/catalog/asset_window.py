"""A bounded window of assets in flight: each goes through its stages, new ones follow as slots free up.

How a stage is run is handed in: a thread pool here (`ThreadStages`), tasks of an orchestrator in
``flows``. One failing asset becomes its record; it neither stops nor delays the others. Assets with
the same blob wait for the first of them, whose references are then pointed at the others.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from types import TracebackType
from typing import Any, Protocol, Self

from . import stages
from .budget import TimeBudget
from .layout import ListedRecord
from .plan import AssetWork
from .records import IndexRecord, Stage
from .resting import Resting
from .stages import AssetResults
from .waiting import Waiting

BlobKey = tuple[bool, tuple[str, str, int]]
"""Whether private, and what decides the references: outputs never borrow from one another."""


@dataclass(frozen=True)
class StageEnd:
    """How a stage ended: with a value, or with an error."""

    value: Any = None
    error: BaseException | None = None


class StageRunner(Protocol):
    """Runs a stage somewhere and says when it has ended."""

    def submit(self, stage: str, arguments: tuple[Any, ...], ended: Callable[[StageEnd], None]) -> None:
        """Run the function of this name in `shadowzarr.catalog.stages`; ``ended`` from any thread."""


class ThreadStages:
    """Runs stages in threads of this process, without an orchestrator and without retries.

    Parameters
    ----------
    bench : object
        What each stage gets first: a `Workshop`, or what the functions given take.
    threads : int
        Stages that run at once.
    function_of : callable, optional
        The function of a stage's name; those of `shadowzarr.catalog.stages` by default.
    """

    def __init__(
        self, bench: object, threads: int, function_of: Callable[[str], Callable[..., Any]] | None = None
    ) -> None:
        self._bench = bench
        self._function_of = function_of or partial(getattr, stages)
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="asset")

    def submit(self, stage: str, arguments: tuple[Any, ...], ended: Callable[[StageEnd], None]) -> None:
        """Run a stage; see `StageRunner`."""
        future = self._executor.submit(self._function_of(stage), self._bench, *arguments)
        future.add_done_callback(lambda done: ended(_end_of(done)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)


def run_assets(
    work: Iterable[AssetWork],
    runner: StageRunner,
    *,
    window: int,
    twins: Mapping[BlobKey, PurePath] | None = None,
    record_path: Callable[[AssetWork, IndexRecord], PurePath],
    stop_on_error: bool = False,
    per_host: int | None = None,
    time_budget: TimeBudget | None = None,
    resting: Resting | None = None,
) -> Iterator[IndexRecord]:
    """Take assets through their stages and give each one's record as it ends.

    Parameters
    ----------
    work : iterable of AssetWork
        Taken from as places in the window free up.
    runner : StageRunner
    window : int
        Assets in flight at once.
    twins : mapping, optional
        Records of blobs that were indexed before.
    record_path : callable
        Where the record of an asset lies, for assets with the same blob.
    stop_on_error : bool
        Start no further asset after one failed; those in flight are brought to their end.
    per_host : int, optional
        Assets of one host in flight at once; those of others go before what waits for it.
    time_budget : TimeBudget, optional
        Start no further asset when its time is over.
    resting : Resting, optional
        Assets between two tries, which take no place in the window; no more than that has places.
    """
    if resting is None:  # one that is empty is false
        resting = Resting()
    waiting = Waiting(work, per_host=per_host)
    run = _Window(runner, dict(twins or {}), record_path, waiting, resting)
    stopped = False
    while True:
        while not stopped and run.in_flight - min(len(resting), window) < window:
            following = waiting.take()
            if following is None:
                break
            if time_budget is not None and not time_budget.may_start():
                waiting.ended(following)
                time_budget.leave([following, *waiting.drain()])
                break
            run.enter(following)
        if not run.in_flight:
            return
        ended = run.next_ended()
        if ended is not None:
            stopped = stopped or (stop_on_error and ended.outcome == "failed")
            yield ended


@dataclass
class _InFlight:
    work: AssetWork
    stage: Stage = "index"
    results: AssetResults = field(default_factory=AssetResults)


class _Window:
    """The assets in flight, and what waits for them."""

    def __init__(
        self,
        runner: StageRunner,
        twins: dict[BlobKey, PurePath],
        record_path: Callable[[AssetWork, IndexRecord], PurePath],
        waiting: Waiting,
        resting: Resting,
    ) -> None:
        self.in_flight = 0
        self._waiting = waiting
        self._resting = resting
        self._runner = runner
        self._twins = twins
        self._record_path = record_path
        self._ended: queue.SimpleQueue[tuple[_InFlight, StageEnd] | None] = queue.SimpleQueue()
        resting.listen(lambda: self._ended.put(None))
        self._same_blob: dict[BlobKey, deque[AssetWork]] = {}

    def enter(self, work: AssetWork) -> None:
        """Start an asset, or let it wait for another with the same blob."""
        key = blob_key(work)
        if key not in self._twins and key in self._same_blob:
            self._waiting.ended(work)
            self._same_blob[key].append(work)
            return
        if key not in self._twins:
            self._same_blob[key] = deque()
        self.in_flight += 1
        self._submit(_InFlight(work), "index", "index", (work, self._twins.get(key)))

    def next_ended(self) -> IndexRecord | None:
        """Wait for a stage to end and start the next; gives the record when it was the last.

        Or for an asset to rest, so that another may be begun.
        """
        event = self._ended.get()
        if event is None:
            return None
        asset, end = event
        self._resting.ended(asset.work)
        is_last = asset.stage == "record" or (asset.stage == "publish" and end.error is None)
        if is_last:
            return self._leave(asset, end)
        if end.error is not None:
            failure = stages.error_summary(asset.stage, end.error)
            arguments = (asset.work, asset.results, failure, stages.verification_of(end.error))
            self._submit(asset, "record", "record_failure", arguments)
        elif asset.stage == "index":
            asset.results = replace(asset.results, indexed=end.value)
            self._submit(asset, "verify", "verify", (asset.work,))
        else:
            asset.results = replace(asset.results, verified=end.value)
            self._submit(asset, "publish", "publish_and_record", (asset.work, asset.results))
        return None

    def _submit(self, asset: _InFlight, stage: Stage, function: str, arguments: tuple[Any, ...]) -> None:
        asset.stage = stage
        self._runner.submit(function, arguments, lambda end: self._ended.put((asset, end)))

    def _leave(self, asset: _InFlight, end: StageEnd) -> IndexRecord:
        self.in_flight -= 1
        self._waiting.ended(asset.work)
        if end.error is not None:
            failure = stages.error_summary("record", end.error)
            record = stages.failure_record(asset.work, asset.results, failure)
        else:
            record = end.value
        self._release(asset.work, record)
        return record

    def _release(self, work: AssetWork, record: IndexRecord) -> None:
        key = blob_key(work)
        if record.outcome != "failed":
            self._twins.setdefault(key, self._record_path(work, record))
        self._waiting.put_back(self._same_blob.pop(key, ()))


def blob_key(work: AssetWork) -> BlobKey:
    """Return what assets with the same references share."""
    return (work.private, work.key.blob_key)


def known_twins(
    public: Mapping[tuple[str, str, int], ListedRecord],
    private: Mapping[tuple[str, str, int], ListedRecord],
) -> dict[BlobKey, PurePath]:
    """Put together the records of blobs that were indexed before, of both outputs."""
    found = {(False, key): record.path for key, record in public.items()}
    return found | {(True, key): record.path for key, record in private.items()}


def _end_of(future: Future[Any]) -> StageEnd:
    error = future.exception()
    return StageEnd(error=error) if error is not None else StageEnd(future.result())
