"""Which chunks of a dataset that stays in the file are read all the same, to see that its codecs are right.

`in_place` decides that; where this differs from it, HDF5 reads for itself.
"""

from __future__ import annotations

import numpy as np

from ..chunk_table import ChunkTable
from .messages import Filters

MAX_BYTES = 8 * 2**20
"""Bytes of a chunk that is read ahead."""

_PROVEN = {2: 0, 1: 1, 3: 2}
"""Shuffle, deflate, Fletcher32: in this order their codecs need no comparison."""


def compared_chunks(
    table: ChunkTable, edges: tuple[int, ...], shape: tuple[int, ...], filters: Filters
) -> list[int]:
    """Rows of the chunks that are compared.

    Parameters
    ----------
    table : ChunkTable
        The chunks.
    edges, shape : tuple of int
        Of a chunk, and of the dataset.
    filters : tuple of (int, tuple of int)
        What the chunks went through.
    """
    order = [_PROVEN.get(number, -1) for number, _ in filters]
    if not len(table) or (-1 not in order and order == sorted(set(order))):
        return []
    masks, counts = np.unique(table.filter_masks, return_counts=True)
    usual = table.filter_masks == masks[counts.argmax()]
    whole = ((table.coordinates + 1) * np.array(edges) <= np.array(shape)).all(axis=1)
    rows = np.flatnonzero(usual & whole if (usual & whole).any() else usual)
    nbytes = table.nbytes[rows]
    found = {int(rows[nbytes.argmin()]), int(rows[nbytes.argmax()])}
    return sorted(row for row in found if table.nbytes[row] <= MAX_BYTES)
