"""The chunks that one read will ask for, known before it asks for the first.

zarr works out the keys of all chunks of a selection in one go, then asks the store for at most
``async.concurrency`` of them at a time. `RfsStore` serves ``zarr.json`` with the chunk key encoding
`ANNOUNCED_KEYS`, which makes the keys of ``default`` and leaves them in the context of the running
task; zarr's own tasks, which call the store, inherit that context. Neither other stores nor zarr's
configuration are touched. What is read ahead because of it is the subject of `look_ahead`.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import ref

from zarr.core.chunk_key_encodings import DefaultChunkKeyEncoding
from zarr.registry import register_chunk_key_encoding

ANNOUNCED_KEYS = "shadowzarr.default"
"""Name under which `AnnouncedChunkKeys` is registered."""
MOST_KEYS = 100_000
"""Keys of one read that are remembered; what comes after them is not read ahead."""


@dataclass(frozen=True, eq=False)
class AnnouncedChunkKeys(DefaultChunkKeyEncoding):
    """The ``default`` chunk key encoding, telling the store which keys are about to be asked for."""

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """The key of a chunk, below its array."""
        key = super().encode_chunk_key(chunk_coords)
        _announce(self, key, chunk_coords)
        return key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DefaultChunkKeyEncoding) and self.separator == other.separator

    def __hash__(self) -> int:
        return hash((DefaultChunkKeyEncoding, self.separator))


class Announced:
    """What one read of one array announced.

    Attributes
    ----------
    chunks : dict
        Coordinates by key below the array, in the order in which they will be asked for.
    plan : object or None
        Left here by the store that is asked for the first of them.
    """

    def __init__(self, encoding: AnnouncedChunkKeys, task: asyncio.Task[Any]) -> None:
        self.chunks: dict[str, tuple[int, ...]] = {}
        self.plan: object | None = None
        self._encoding = encoding
        self._task = ref(task)
        self._is_closed = False
        # zarr makes all keys of a read in one turn of the loop: later ones belong to another read.
        task.get_loop().call_soon(self._close)

    def continues(self, encoding: AnnouncedChunkKeys, task: asyncio.Task[Any], key: str) -> bool:
        """Whether a key belongs to the same read."""
        is_same = encoding is self._encoding and task is self._task()
        return is_same and not self._is_closed and key not in self.chunks

    def _close(self) -> None:
        self._is_closed = True


_CURRENT: ContextVar[Announced | None] = ContextVar("announced chunks", default=None)


def announced() -> Announced | None:
    """What the read announced on whose behalf the running task works; None when it is not known."""
    return _CURRENT.get()


def _announce(encoding: AnnouncedChunkKeys, key: str, coordinates: tuple[int, ...]) -> None:
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs: this is not a read
        return
    if task is None:
        return
    current = _CURRENT.get()
    if current is None or not current.continues(encoding, task, key):
        current = Announced(encoding, task)
        _CURRENT.set(current)
    if len(current.chunks) < MOST_KEYS:
        current.chunks[key] = coordinates


register_chunk_key_encoding(ANNOUNCED_KEYS, AnnouncedChunkKeys)
