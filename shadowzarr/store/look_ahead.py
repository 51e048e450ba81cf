"""Reading the chunks of a selection before zarr asks for them.

zarr asks for ten chunks at a time unless its global configuration says otherwise, so that 300 small
chunks of a remote file would cost thirty round trips one after the other, each merged for itself.
Here the rest of what a read announced (`announced`) is started as soon as its first chunks are asked for,
as far as a window of bytes allows: near chunks then share requests, and the others are under way at once.

It only ever reads chunks that zarr is about to ask for, in parts that follow from the parts asked for so
far. A wrong guess costs a request and ends the reading ahead of that selection; what zarr gets is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..access.locations import is_remote
from ..refs.array_layout import ArrayLayout
from .announced import Announced, announced
from .locate import ChunkId, Found

Bytes = bytes | memoryview
Coordinates = tuple[int, ...]

WINDOW = 32 * 2**20
"""Bytes that one selection may be ahead of zarr, so that memory does not grow with the selection."""


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a chunk, as a slice means them."""

    start: int | None = None
    stop: int | None = None

    def cut(self, data: Bytes, wanted: Part) -> Bytes | None:
        """Another part out of the bytes of this one; None when they do not hold it."""
        if self == wanted:
            return data
        if self == WHOLE:
            return data[wanted.start : wanted.stop]
        if None in (self.start, self.stop, wanted.start, wanted.stop):
            return None
        first, last = wanted.start - self.start, wanted.stop - self.start  # type: ignore[operator]
        return data[first:last] if 0 <= first <= last <= self.stop - self.start else None  # type: ignore[operator]

    def nbytes(self, length: int) -> int:
        """How many bytes it is of a chunk of some length."""
        return len(range(*slice(self.start, self.stop).indices(length)))


WHOLE = Part()

type ReadPart = Callable[[str, Part, Callable[[int], None]], Coroutine[Any, Any, Bytes | None]]
"""Reads part of a key's value and tells, once it is located, how many bytes that is."""


class LookAhead:
    """Makes and finds the plans of a store's reads.

    Parameters
    ----------
    chunk_of : callable
        The chunk that a key names, if any.
    layout_of : callable
        Layout of an array by its path.
    read : callable
        Reads part of a chunk by its key; gives None for one that need not be read ahead.
    small : int
        Chunks of at most so many bytes cost little when more of them is read than was asked for.
    """

    def __init__(
        self,
        chunk_of: Callable[[str], ChunkId | None],
        layout_of: Callable[[str], ArrayLayout],
        read: ReadPart,
        *,
        small: int,
    ) -> None:
        self._chunk_of = chunk_of
        self._layout_of = layout_of
        self._read = read
        self._small = small

    def plan(self, key: str) -> ReadPlan | None:
        """The plan of the read on whose behalf a key is asked for; None when it announced nothing more."""
        current = announced()
        if current is None or len(current.chunks) < 2:
            return None
        if current.plan is None:
            current.plan = self._new_plan(current, key)
        plan = current.plan
        return plan if isinstance(plan, ReadPlan) and plan.reads_for(self._read) else None

    def _new_plan(self, current: Announced, key: str) -> ReadPlan | None:
        chunk = self._chunk_of(key)
        if chunk is None:
            return None
        tail = key[len(chunk.path) :].lstrip("/")
        if tail not in current.chunks:
            return None
        prefix = key.removesuffix(tail)
        chunks = {prefix + name: coordinates for name, coordinates in current.chunks.items()}
        nbytes = self._layout_of(chunk.path).chunk_nbytes
        return ReadPlan(chunks, self._read, nbytes=nbytes, small=self._small, window=WINDOW)


class ReadPlan:
    """What one read of one array still needs, and what of it is under way.

    Belongs to one event loop.

    Parameters
    ----------
    chunks : mapping
        Coordinates of the chunks by their keys, in the order in which they will be asked for.
    read : callable
        As for `LookAhead`.
    nbytes : int or None
        Bytes of every chunk, when zarr may ask for parts of them; None when it asks for whole ones.
    small : int
        As for `LookAhead`.
    window : int
        Bytes to be ahead at most.
    """

    def __init__(
        self,
        chunks: Mapping[str, Coordinates],
        read: ReadPart,
        *,
        nbytes: int | None,
        small: int,
        window: int,
    ) -> None:
        self._chunks = chunks
        self._read = read
        self._window = window
        self._waiting = dict.fromkeys(chunks)
        self._ahead: dict[str, _Ahead] = {}
        self._guess = Guess(_Box.around(chunks.values()), nbytes, small)
        self._held = 0
        self._is_scheduled = False
        self._is_stopped = False

    def reads_for(self, read: ReadPart) -> bool:
        """Whether it belongs to the store that reads by ``read``."""
        return self._read == read

    async def take(self, key: str, wanted: Part) -> Bytes | None:
        """The bytes of a chunk that was read ahead; None when it was not."""
        ahead = self._ahead.pop(key, None)
        if ahead is None:
            return None
        try:
            data = await ahead.task
        except asyncio.CancelledError:
            self._cancel()
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            return None  # another read of the same selection was given up, this one was not
        except Exception:
            self._is_stopped = True
            raise
        finally:
            self._release(ahead)
        found = None if data is None else ahead.part.cut(data, wanted)
        if data is not None and found is None:
            self._is_stopped = True
        return found

    async def read(self, key: str, found: Found, wanted: Part, reading: Awaitable[Bytes]) -> Bytes:
        """Read a chunk that was not read ahead, and read ahead of what follows it."""
        self._note(key, found, wanted)
        try:
            return await reading
        except asyncio.CancelledError:
            self._cancel()
            raise
        except Exception:
            self._is_stopped = True
            raise

    def _note(self, key: str, found: Found, wanted: Part) -> None:
        self._waiting.pop(key, None)
        if found.location is None or self._is_stopped:
            return
        if not is_remote(found.location.url):  # a local file has no round trips to save
            self._is_stopped = True
            return
        self._guess.learn(self._chunks[key], wanted)
        self._schedule()

    def _schedule(self) -> None:
        """Look further at the end of the loop's turn, when all that zarr asks for at once is known."""
        if not self._is_scheduled and not self._is_stopped and self._waiting:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._extend)

    def _extend(self) -> None:
        self._is_scheduled = False
        part = self._guess.part
        if part is None:
            return
        while self._waiting and not self._is_stopped and self._held < self._window:
            key = next(iter(self._waiting))
            del self._waiting[key]
            if self._guess.is_safe(self._chunks[key]) and not self._start(key, part).is_located:
                return  # an index chunk has to be read first; whether there is room is known then

    def _start(self, key: str, part: Part) -> _Ahead:
        ahead = self._ahead[key] = _Ahead(part)

        def located(nbytes: int) -> None:
            ahead.nbytes, ahead.is_located = nbytes, True
            self._held += nbytes
            self._schedule()

        # Started at once: its read is then merged with those of the chunks that zarr has asked for.
        loop = asyncio.get_running_loop()
        ahead.task = asyncio.Task(self._read(key, part, located), loop=loop, eager_start=True)
        _RUNNING.add(ahead.task)
        ahead.task.add_done_callback(_finished)
        return ahead

    def _release(self, ahead: _Ahead) -> None:
        self._held -= ahead.nbytes
        if self._held <= self._window // 2:  # in large steps, so that near chunks still share requests
            self._schedule()

    def _cancel(self) -> None:
        self._is_stopped = True
        for ahead in self._ahead.values():
            ahead.task.cancel()


class Guess:
    """Which part of the coming chunks will be asked for, judged by those asked for so far. Pure.

    Parameters
    ----------
    box : _Box
        Around the coordinates of all chunks of the selection.
    nbytes : int or None
        Bytes of every chunk; None when chunks are always asked for whole.
    small : int
        As for `LookAhead`.
    """

    def __init__(self, box: _Box, nbytes: int | None, small: int) -> None:
        self._box = box
        self._is_small = nbytes is not None and nbytes <= small
        self._is_partial = nbytes is not None
        self._inner: set[Part] = set()
        self._all: set[Part] = set()

    def learn(self, coordinates: Coordinates, part: Part) -> None:
        """Take note of a part that was asked for."""
        self._all.add(part)
        if self._is_partial and not self._box.has_at_edge(coordinates):
            self._inner.add(part)

    @property
    def part(self) -> Part | None:
        """The part to read of the coming chunks; None when nothing follows from what was asked for."""
        if not self._is_partial:
            return WHOLE if self._all == {WHOLE} else None
        told_by = self._inner or (self._all if self._is_small else set())
        if len(told_by) == 1:
            return next(iter(told_by))
        return WHOLE if self._is_small and self._all else None

    def is_safe(self, coordinates: Coordinates) -> bool:
        """Whether a chunk will be asked for like the others, or costs little if it is not.

        At the edge of a selection less of a chunk may be wanted.
        """
        return not self._is_partial or self._is_small or not self._box.has_at_edge(coordinates)


@dataclass(frozen=True, slots=True)
class _Box:
    """First and last coordinate along each axis on which they differ."""

    edges: tuple[tuple[int, int, int], ...]

    @classmethod
    def around(cls, coordinates: Iterable[Coordinates]) -> _Box:
        axes = enumerate(zip(*coordinates, strict=True))
        extents = ((axis, min(numbers), max(numbers)) for axis, numbers in axes)
        return cls(tuple((axis, low, high) for axis, low, high in extents if low != high))

    def has_at_edge(self, coordinates: Coordinates) -> bool:
        return any(coordinates[axis] in (low, high) for axis, low, high in self.edges)


@dataclass(slots=True, eq=False)
class _Ahead:
    """A chunk that is read ahead."""

    part: Part
    nbytes: int = 0
    is_located: bool = False
    task: asyncio.Task[Bytes | None] = field(init=False)


_RUNNING: set[asyncio.Task[Any]] = set()
"""Loops keep only weak references to their tasks."""


def _finished(task: asyncio.Task[Any]) -> None:
    _RUNNING.discard(task)
    if not task.cancelled():
        task.exception()  # raised where the chunk is taken; one that nobody takes any more is no trouble
