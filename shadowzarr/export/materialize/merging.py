"""How far near chunks may lie apart to share a request, so that little else is fetched (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...access.merging import MERGE_BELOW, MERGE_GAP
from ...store.chunk_table import HELD, ChunkTable

_WASTE = 0.05
"""Of the stored bytes, what may be fetched beside them between chunks."""

_Column = npt.NDArray[Any]


def merge_gap_of(tables: Sequence[ChunkTable]) -> int:
    """The largest gap that wastes little, up to that of `RfsStore`.

    It holds for chunks of one array that are read together, and for those of several that are read at the
    same time: between these, chunks of others that are shorter than the gap would be fetched, too.
    """
    columns = [_small(table) for table in tables]
    columns = [each for each in columns if len(each[0])]
    gaps = [_of_gaps(*each) for each in columns]
    if len(columns) > 1:
        files, offsets, lengths = map(np.concatenate, zip(*columns, strict=True))
        gaps += [_of_gaps(files, offsets, lengths), _up_to(lengths, lengths.sum())]
    return min(gaps, default=MERGE_GAP)


def _small(table: ChunkTable) -> tuple[_Column, _Column, _Column]:
    """Files, offsets and lengths of the chunks that share requests."""
    chosen = table.part((table.files != HELD) & (table.lengths <= np.uint64(MERGE_BELOW)))
    return chosen.files, chosen.offsets, chosen.lengths


def _of_gaps(files: _Column, offsets: _Column, lengths: _Column) -> int:
    order = np.lexsort((offsets, files))
    files, offsets, ends = files[order], offsets[order], (offsets + lengths)[order]
    is_near = (files[1:] == files[:-1]) & (offsets[1:] > ends[:-1])
    return _up_to(offsets[1:][is_near] - ends[:-1][is_near], lengths.sum())


def _up_to(sizes: _Column, total: int) -> int:
    """The largest gap for which what is not larger, all together, is no more than the allowed share."""
    sizes = np.sort(sizes[sizes <= np.uint64(MERGE_GAP)])
    beyond = np.flatnonzero(np.cumsum(sizes, dtype=np.float64) > _WASTE * float(total))
    return MERGE_GAP if not len(beyond) else max(0, int(sizes[beyond[0]]) - 1)
