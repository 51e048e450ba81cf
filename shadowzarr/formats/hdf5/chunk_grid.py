"""Chunk grids: which chunks a mapping covers, and tables of where chunks are.

Pure arithmetic of the virtual datasets (``virtual``) and raw files (``raw_files``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...refs.slabs import largest_divisor as largest_divisor
from .chunk_table import ChunkTable
from .dtypes import NotInPlaceError

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grid:
    """Chunks of the virtual dataset, one a row, and the source's elements at which they begin."""

    ours: Indices
    theirs: Indices


def product(parts: list[Indices]) -> Indices:
    """All combinations of one index along each axis, one a row."""
    return np.stack(np.meshgrid(*parts, indexing="ij"), axis=-1).reshape(-1, len(parts))


def is_one_piece(chunk: list[int], shape: tuple[int, ...], starts: Indices) -> bool:
    """Whether chunks that begin at some elements of a C-ordered array each lie in one piece."""
    axis = len(shape) - 1
    while axis >= 0 and chunk[axis] == shape[axis] and not starts[:, axis].any():
        axis -= 1
    return all(edge == 1 for edge in chunk[: max(0, axis)])


def missing(ours: Indices, table: ChunkTable, held: dict[tuple[int, ...], bytes]) -> Indices:
    """The rows that have no chunk."""
    rank = ours.shape[1]
    there = set(map(tuple, table.coordinates[:, :rank].tolist())) | {key[:rank] for key in held}
    rows = [row for row in map(tuple, ours.tolist()) if row not in there]
    return np.array(rows, np.int64).reshape(-1, rank)


def check_disjoint(taken: list[Indices]) -> None:
    """Refuse mappings that cover the same chunk: which of them HDF5 shows is not said.

    Raises
    ------
    NotInPlaceError
        When a row occurs twice.
    """
    rows = np.concatenate(taken)
    if len(taken) > 1 and len(np.unique(rows, axis=0)) != len(rows):
        raise NotInPlaceError("a virtual dataset whose sources overlap")


def joined(parts: list[ChunkTable]) -> ChunkTable:
    """Tables as one, in the order of the coordinates."""
    table = ChunkTable(
        np.concatenate([part.coordinates for part in parts]),
        np.concatenate([part.offsets for part in parts]),
        np.concatenate([part.nbytes for part in parts]),
        np.concatenate([part.filter_masks for part in parts]),
    )
    return table[np.lexsort(table.coordinates.T[::-1])]


def no_chunks(axes: int) -> ChunkTable:
    """A table without rows."""
    nothing = np.zeros(0, np.uint64)
    return ChunkTable(np.zeros((0, axes), np.int64), nothing, nothing, np.zeros(0, np.uint32))
