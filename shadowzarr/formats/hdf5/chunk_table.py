"""The chunks of a dataset as arrays: a row per chunk that was written.

A noun that what finds chunks and what plans arrays share; it knows no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """The chunks of a dataset that were written, in the order of their coordinates.

    Attributes
    ----------
    coordinates : numpy.ndarray
        int64, shape (chunks, axes): chunk coordinates.
    offsets, nbytes : numpy.ndarray
        uint64, shape (chunks,): where each chunk is stored, as HDF5 reports it, and its stored size.
    filter_masks : numpy.ndarray
        uint32, shape (chunks,): bit i is set when filter i was skipped.
    """

    coordinates: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.uint64]
    nbytes: npt.NDArray[np.uint64]
    filter_masks: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.offsets)

    def __getitem__(self, rows: npt.NDArray[Any]) -> ChunkTable:
        if rows.dtype == np.bool_ and rows.all():
            return self  # a table of millions of chunks is seldom cut, and copying it is not free
        return ChunkTable(
            self.coordinates[rows], self.offsets[rows], self.nbytes[rows], self.filter_masks[rows]
        )
