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
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..access.locations import is_remote
from ..refs.array_layout import ArrayLayout
from .announced import Announced, announced
from .chunk_parts import Box, Bytes, Coordinates, Guess, Part
from .locate import ChunkId, Found

WINDOW = 32 * 2**20
"""Bytes that one selection may be ahead of zarr, so that memory does not grow with the selection."""
UNKNOWN_LENGTH = 2**20
"""Bytes that a whole file is taken for, where references do not say how long it is."""


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
        Chunks that take at most so many bytes in their file cost little when they are read needlessly.
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
        is_partial = self._layout_of(chunk.path).chunk_nbytes is not None
        return ReadPlan(chunks, self._read, is_partial=is_partial, small=self._small, window=WINDOW)


class ReadPlan:
    """What one read of one array still needs, and what of it is under way.

    Belongs to one event loop.

    Parameters
    ----------
    chunks : mapping
        Coordinates of the chunks by their keys, in the order in which they will be asked for.
    read : callable
        As for `LookAhead`.
    is_partial : bool
        Whether zarr may ask for parts of these chunks.
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
        is_partial: bool,
        small: int,
        window: int,
    ) -> None:
        self._chunks = chunks
        self._read = read
        self._window = window
        self._waiting = dict.fromkeys(chunks)
        self._ahead: dict[str, _Ahead] = {}
        self._guess = Guess(Box.around(chunks.values()), is_partial=is_partial, small=small)
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
        except Exception:  # zarr gets it, whatever it is; a selection that fails is not read further
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
        except Exception:  # as in `take`
            self._is_stopped = True
            raise

    def _note(self, key: str, found: Found, wanted: Part) -> None:
        self._waiting.pop(key, None)
        if found.location is None or self._is_stopped:
            return
        if not is_remote(found.location.url):  # a local file has no round trips to save
            self._is_stopped = True
            return
        self._guess.learn(self._chunks[key], wanted, found.location.length or UNKNOWN_LENGTH)
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
