"""What the nodes of a chunk index say of chunks, and the table that it becomes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..chunk_table import ChunkTable
from .layout import ChunkIndexLayout
from .refusal import sound


@dataclass(frozen=True, slots=True)
class Entries:
    """Chunks of an index, in any order.

    Attributes
    ----------
    addresses, nbytes : numpy.ndarray
        uint64: relative to the base address, and the stored size.
    masks : numpy.ndarray
        uint32: filters that were skipped.
    coordinates : numpy.ndarray
        int64, shape (chunks, axes).
    """

    addresses: npt.NDArray[np.uint64]
    nbytes: npt.NDArray[np.uint64]
    masks: npt.NDArray[np.uint32]
    coordinates: npt.NDArray[np.int64]


def table_of(entries: Entries, layout: ChunkIndexLayout) -> ChunkTable:
    """The chunks inside the present shape, in order, their offsets counted from the start of the file.

    Raises
    ------
    DamagedIndexError
        When a chunk is there twice.
    """
    offsets = entries.addresses
    if layout.sizes.base_address:
        offsets = offsets + np.uint64(layout.sizes.base_address)
    table = ChunkTable(entries.coordinates, offsets, entries.nbytes, entries.masks)
    pairs = zip(layout.shape, layout.storage.edges, strict=True)
    grid = tuple(-(-extent // edge) for extent, edge in pairs)
    inside = np.ones(len(table), np.bool_)
    for column, count in zip(table.coordinates.T, grid, strict=True):
        inside &= column < count
    return _in_order(table if inside.all() else table[inside], grid)


def _in_order(table: ChunkTable, grid: tuple[int, ...]) -> ChunkTable:
    if len(table) < 2:
        return table
    if math.prod(grid) < 2**63:
        numbers = np.ravel_multi_index(tuple(table.coordinates.T), grid)
        if not (numbers[1:] > numbers[:-1]).all():
            order = np.argsort(numbers, kind="stable")
            table, numbers = table[order], numbers[order]
        repeated = numbers[1:] == numbers[:-1]
    else:
        table = table[np.lexsort(table.coordinates.T[::-1])]
        repeated = (table.coordinates[1:] == table.coordinates[:-1]).all(axis=1)
    sound(not repeated.any(), "a chunk that is in the index twice")
    return table
