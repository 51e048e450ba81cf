"""Chunks copied as they are stored, without decoding: a few at a time, as far as memory goes."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterator, Sequence

from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ...errors import OutputError, ShortReadError, UsageError
from ...formatting import format_bytes
from ...refs.chunk_index import MISSING
from ...store.locate import ChunkId, Locator
from ...store.rfs_store import RfsStore
from .plan import ArrayPlan
from .rewrite import Counts
from .sweep import BLOCK_BYTES, Coordinates
from .target import TargetArray

_AT_A_TIME = 64
"""Chunks that are read at the same time."""


def copy_stored(
    store: RfsStore,
    array: ArrayPlan,
    target: TargetArray,
    *,
    present: Container[str],
    verify: bool,
    memory: int,
) -> Counts:
    """Copy the chunks of an array.

    Parameters
    ----------
    store : RfsStore
        Gives chunks as they are stored.
    array : ArrayPlan
        What to copy.
    target : TargetArray
        Where to.
    present : container of str
        Keys that an earlier run has written.
    verify : bool
        Whether what is written is read back.
    memory : int
        Bytes to hold at a time.

    Raises
    ------
    UsageError
        When one chunk is larger than the memory.
    ShadowzarrError
        When a chunk cannot be read or written.
    """
    counts = Counts()
    locator = Locator(store.rfs)
    for batch in _batches(array, memory):
        keys = [locator.key(ChunkId(array.path, at)) for at in batch]
        is_there = [target.key(at) in present for at in batch]
        wanted = [key for key, found in zip(keys, is_there, strict=True) if verify or not found]
        data = dict(zip(wanted, sync(_read(store, wanted)), strict=True))
        for at, key, found in zip(batch, keys, is_there, strict=True):
            if not found:
                target.set_stored(at, data[key])
            if verify and target.stored(at) != data[key]:
                raise OutputError(
                    f"chunk {at} of array {'/' + array.path!r} reads back otherwise than it was written"
                )
            counts.found += found
            counts.written += not found
    return counts


def _batches(array: ArrayPlan, memory: int) -> Iterator[list[Coordinates]]:
    """Chunks in the order of the grid, so many at a time as are a block."""
    room = min(BLOCK_BYTES, memory // 4)
    batch: list[Coordinates] = []
    held = 0
    columns = (array.table.coordinates.tolist(), array.table.lengths.tolist())
    for at, length in zip(*columns, strict=True):
        nbytes = 0 if length == MISSING else length
        if nbytes > memory // 2:
            raise UsageError(
                f"a chunk of array {'/' + array.path!r} has {format_bytes(nbytes)} as it is stored; copying "
                f"it takes twice as much memory, and {format_bytes(memory)} are allowed (max_memory, "
                "--max-memory)"
            )
        if batch and (held + nbytes > room or len(batch) == _AT_A_TIME):
            yield batch
            batch, held = [], 0
        batch.append(tuple(at))
        held += nbytes
    if batch:
        yield batch


async def _read(store: RfsStore, keys: Sequence[str]) -> list[bytes]:
    prototype = default_buffer_prototype()
    found = await asyncio.gather(*[store.get(key, prototype) for key in keys])
    missing = [key for key, data in zip(keys, found, strict=True) if data is None]
    if missing:
        raise ShortReadError(f"{missing[0]!r} is listed in the references and is not there")
    return [data.to_bytes() for data in found if data is not None]
