"""Arrays whose values come in the memory order in which a chunk is one piece of the result.

zarr copies each chunk to its place in the result, which is in C order by default. A chunk of one channel of
a recording is a column there: each of its values lies in a cache line of its own, and copying them takes
longer than fetching them. In Fortran order the same chunk is one piece. The values are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import zarr
from zarr.core.metadata.v3 import RegularChunkGridMetadata

MemoryOrder = Literal["auto", "C"]

_CACHE_LINE = 64
"""Bytes that a processor moves at once; copying shorter pieces takes as long."""

_WORTH_WHILE = 8
"""Cache lines of a piece in Fortran order from which on it pays: the chunk itself is turned for it."""


@dataclass(frozen=True)
class OrderedGroup(zarr.AsyncGroup):
    """A group whose arrays give values in the order that suits their chunks."""

    async def getitem(self, key: str) -> Any:
        """Give a group or an array below it, as zarr's own does."""
        node = await super().getitem(key)
        if isinstance(node, zarr.AsyncGroup):
            return OrderedGroup(node.metadata, node.store_path)
        grid = node.metadata.chunk_grid
        if not isinstance(grid, RegularChunkGridMetadata):
            return node
        is_column = suits_columns(node.shape, grid.chunk_shape, node.dtype.itemsize)
        return node.with_config({"order": "F"}) if is_column else node


def suits_columns(shape: Sequence[int], chunk_shape: Sequence[int], itemsize: int) -> bool:
    """Whether values that are copied from such chunks should be in Fortran order.

    Parameters
    ----------
    shape, chunk_shape : sequence of int
        Of the array, and of its chunks.
    itemsize : int
        Bytes of a value.
    """
    in_c = itemsize * _run(shape[::-1], chunk_shape[::-1])
    in_fortran = itemsize * _run(shape, chunk_shape)
    return in_c < _CACHE_LINE and in_fortran >= _WORTH_WHILE * _CACHE_LINE


def _run(shape: Sequence[int], chunk_shape: Sequence[int]) -> int:
    """How many values of a chunk lie side by side in an array whose first axis is the fastest."""
    run = 1
    for size, chunk in zip(shape, chunk_shape, strict=True):
        run *= min(size, chunk)
        if chunk < size:
            break
    return run
