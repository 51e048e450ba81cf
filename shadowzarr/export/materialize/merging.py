"""How far near chunks may lie apart to share a request, so that little else is fetched (pure)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...access.merging import MERGE_BELOW, MERGE_GAP
from ...store.chunk_table import HELD, ChunkTable

_WASTE = 0.05
"""Of an array's stored bytes, what may be fetched beside them between its chunks."""


def merge_gap_of(tables: Iterable[ChunkTable]) -> int:
    """The largest gap that wastes little for each of some arrays, up to that of `RfsStore`."""
    return min((_of_one(table) for table in tables), default=MERGE_GAP)


def _of_one(table: ChunkTable) -> int:
    small = (table.files != HELD) & (table.lengths <= np.uint64(MERGE_BELOW))
    chosen = table.part(small)
    order = np.lexsort((chosen.offsets, chosen.files))
    files, offsets, lengths = chosen.files[order], chosen.offsets[order], chosen.lengths[order]
    ends = (offsets + lengths)[:-1]
    is_near = (files[1:] == files[:-1]) & (offsets[1:] > ends)
    gaps = np.sort((offsets[1:][is_near] - ends[is_near]).astype(np.int64))
    gaps = gaps[gaps <= MERGE_GAP]
    allowed = np.flatnonzero(np.cumsum(gaps) > _WASTE * float(lengths.sum()))
    return MERGE_GAP if not len(allowed) else int(gaps[allowed[0]]) - 1
