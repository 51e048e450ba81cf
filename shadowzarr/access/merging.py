"""Near ranges read in one request: a pure plan, and a merger that gathers concurrent reads.

The plan knows numbers only. The merger works in event loops; reads that are known beforehand are better
planned at once. What was read before may be kept by a cache, which is asked for all ranges of a turn at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from ..refs.byte_range import FileRange
from .range_reader import RangeReader
from .source_identity import Buffer, Source

MERGE_GAP = 32 * 2**10
"""Ranges are merged when at most this many bytes lie between them."""
MAX_MERGE_SIZE = 2**20
"""Most bytes of a merged request; 0 turns merging off."""
MERGE_BELOW = 64 * 2**10
"""Only ranges of at most this many bytes are merged: merging larger ones was measured to be slower."""


@dataclass(frozen=True, slots=True)
class MergedRequest:
    """One request that serves several ranges.

    Attributes
    ----------
    request : FileRange
        What to ask for.
    members : tuple of int
        Which of the ranges it serves, by their place in the list that was planned.
    """

    request: FileRange
    members: tuple[int, ...]


def plan_requests(
    ranges: Sequence[FileRange],
    *,
    merge_gap: int = MERGE_GAP,
    max_merge_size: int = MAX_MERGE_SIZE,
    merge_below: int = MERGE_BELOW,
) -> list[MergedRequest]:
    """Plan the requests for ranges of one file.

    Parameters
    ----------
    ranges : sequence of FileRange
        In any order; they may repeat and overlap.
    merge_gap : int, optional
        Most bytes between two ranges of one request.
    max_merge_size : int, optional
        Most bytes of a request that serves several different ranges; 0 turns merging off.
    merge_below : int, optional
        Only ranges of at most this many bytes are merged.

    Returns
    -------
    list of MergedRequest
        In file order. Every range is a member of exactly one and lies within its request; equal ranges share
        one.
    """
    order = sorted(range(len(ranges)), key=lambda i: (ranges[i].offset, ranges[i].length))
    small = [i for i in order if max_merge_size > 0 and ranges[i].length <= merge_below]
    large = [i for i in order if max_merge_size <= 0 or ranges[i].length > merge_below]
    plans = [
        *_runs(ranges, small, merge_gap=merge_gap, max_merge_size=max_merge_size),
        *_runs(ranges, large, merge_gap=merge_gap, max_merge_size=0),
    ]
    return sorted(plans, key=lambda plan: (plan.request.offset, plan.request.length))


class RangeCache(Protocol):
    """What keeps ranges of files between reads; calls may block, and come from any thread."""

    def keeps(self, source: Source | None) -> bool:
        """Whether ranges of a file are kept; never blocks."""

    def get_many(self, source: Source, parts: Sequence[FileRange]) -> Sequence[Buffer | None]:
        """The bytes of ranges, each None when they are not kept."""

    def put_many(self, source: Source, parts: Sequence[FileRange], data: Sequence[Buffer]) -> None:
        """Keep the bytes of ranges."""


class RangeMerger:
    """Gathers reads that arrive together and sends merged requests.

    Reads of one file that begin in the same turn of an event loop are planned as one. It has no threads
    and no locks; loops do not share requests.

    Parameters
    ----------
    reader : RangeReader
        What reads the bytes.
    merge_gap, max_merge_size, merge_below : int, optional
        See `plan_requests`.
    cache : RangeCache, optional
        Asked before the reader, and given what was read.
    """

    def __init__(
        self,
        reader: RangeReader,
        *,
        merge_gap: int = MERGE_GAP,
        max_merge_size: int = MAX_MERGE_SIZE,
        merge_below: int = MERGE_BELOW,
        cache: RangeCache | None = None,
    ) -> None:
        self._reader = reader
        self._cache = cache
        self._merge_gap = merge_gap
        self._max_merge_size = max_merge_size
        self._merge_below = merge_below
        self._gathering: _Gathering = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_gathering": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._gathering = WeakKeyDictionary()

    async def read(self, url: str, wanted: FileRange, *, source: Source | None = None) -> Buffer:
        """Read one range, together with whatever else is asked for at the same time.

        Parameters
        ----------
        url : str
            The file.
        wanted : FileRange
            The bytes.
        source : Source, optional
            What the file must be; only reads with the same one are merged.

        Returns
        -------
        bytes or memoryview
            Of the length asked for; a view keeps the merged answer alive.

        Raises
        ------
        ShadowzarrError
            Whatever the reader raises; all ranges of a request fail together.
        """
        is_kept = self._cache is not None and self._cache.keeps(source)
        is_alone = self._max_merge_size <= 0 or wanted.length > self._merge_below
        if is_alone and not is_kept:
            return (await self._reader.read_async(url, [wanted], source=source))[0]
        loop = asyncio.get_running_loop()
        waiting = self._gathering.setdefault(loop, {})
        key = (url, source)
        if key not in waiting:
            waiting[key] = _Waiting()
            loop.call_soon(self._send, waiting, key)
        answer: asyncio.Future[Buffer] = loop.create_future()
        waiting[key].add(wanted, answer)
        return await answer

    def _send(self, waiting: dict[_Key, _Waiting], key: _Key) -> None:
        """Serve what was gathered in this turn of the loop."""
        gathered = waiting.pop(key)
        source = key[1]
        if self._cache is None or source is None or not self._cache.keeps(source):
            self._request(key, gathered, range(len(gathered.ranges)))
        else:
            gathered.start(self._ask_cache(self._cache, source, key, gathered))

    async def _ask_cache(self, cache: RangeCache, source: Source, key: _Key, gathered: _Waiting) -> None:
        try:
            kept = await asyncio.to_thread(cache.get_many, source, gathered.ranges)
        except BaseException as error:  # noqa: BLE001 - handed to those who wait, cancellation too
            gathered.fail(range(len(gathered.ranges)), error)
            return
        for i, data in enumerate(kept):
            if data is not None:
                gathered.answer(i, data)
        self._request(key, gathered, [i for i, data in enumerate(kept) if data is None])

    def _request(self, key: _Key, gathered: _Waiting, wanted: Sequence[int]) -> None:
        """Plan the requests for some of the gathered ranges, and start them."""
        plans = plan_requests(
            [gathered.ranges[i] for i in wanted],
            merge_gap=self._merge_gap,
            max_merge_size=self._max_merge_size,
            merge_below=self._merge_below,
        )
        for plan in plans:
            members = [wanted[i] for i in plan.members]
            gathered.start(self._serve(key, gathered, plan.request, members))

    async def _serve(self, key: _Key, gathered: _Waiting, request: FileRange, members: Sequence[int]) -> None:
        url, source = key
        try:
            data = memoryview((await self._reader.read_async(url, [request], source=source))[0])
            parts = [gathered.ranges[i] for i in members]
            cut = [data[part.offset - request.offset : part.stop - request.offset] for part in parts]
            if self._cache is not None and source is not None and self._cache.keeps(source):
                await asyncio.to_thread(self._cache.put_many, source, parts, cut)
        except BaseException as error:  # noqa: BLE001 - handed to those who wait, cancellation too
            gathered.fail(members, error)
        else:
            for i, part in zip(members, cut, strict=True):
                gathered.answer(i, part)


@dataclass(slots=True)
class _Waiting:
    """Reads of one file that wait for the end of the loop's turn."""

    ranges: list[FileRange] = field(default_factory=list)
    answers: list[asyncio.Future[Buffer]] = field(default_factory=list)
    tasks: set[asyncio.Future[None]] = field(default_factory=set)

    def add(self, wanted: FileRange, answer: asyncio.Future[Buffer]) -> None:
        self.ranges.append(wanted)
        self.answers.append(answer)

    def start(self, serving: Coroutine[Any, Any, None]) -> None:
        """Run a part of the serving as a task; a loop keeps only weak references to its tasks."""
        task = asyncio.ensure_future(serving)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def answer(self, i: int, data: Buffer) -> None:
        if not self.answers[i].done():  # whoever waited may have given up
            self.answers[i].set_result(data)

    def fail(self, members: Iterable[int], error: BaseException) -> None:
        for i in members:
            answer = self.answers[i]
            if answer.done():
                continue
            if isinstance(error, asyncio.CancelledError):
                answer.cancel()
            else:
                answer.set_exception(error)


type _Key = tuple[str, Source | None]
type _Gathering = WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, _Waiting]]


def _runs(
    ranges: Sequence[FileRange], order: Sequence[int], *, merge_gap: int, max_merge_size: int
) -> list[MergedRequest]:
    """Cut ranges in file order into runs; with `max_merge_size` 0 only equal ranges share one."""
    plans: list[MergedRequest] = []
    members: list[int] = []
    start = stop = 0
    for i in order:
        wanted = ranges[i]
        joined = max(stop, wanted.stop)
        is_equal = bool(members) and wanted == ranges[members[0]] and start + wanted.length == stop
        fits = bool(members) and wanted.offset - stop <= merge_gap and joined - start <= max_merge_size
        if members and not (is_equal or fits):
            plans.append(MergedRequest(FileRange(start, stop - start), tuple(members)))
            members = []
        if not members:
            start, stop = wanted.offset, wanted.stop
        members.append(i)
        stop = max(stop, wanted.stop)
    if members:
        plans.append(MergedRequest(FileRange(start, stop - start), tuple(members)))
    return plans
