"""Values of one buffer or stream of a segment as NEO reads them, a region at a time.

Columns that are channels are read by NEO. A buffer may have others, which no stream shows; those are read
from where NEO's description of the buffer says that they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..regions import Region, region_shape

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class BufferValues:
    """Reads regions of one array, time by channel.

    Attributes
    ----------
    reader : neo.rawio.baserawio.BaseRawIO
        With its header parsed.
    block, segment : int
        Of the array.
    columns : mapping of int to sequence of int
        For each stream, by its index, which columns of the array its channels are.
    description : dict or None
        NEO's, of a buffer that has columns beside those.
    dtype : numpy.dtype
        Of the values.
    """

    reader: Any
    block: int
    segment: int
    columns: Mapping[int, Sequence[int]]
    description: Mapping[str, Any] | None
    dtype: np.dtype[Any]

    def read(self, region: Region) -> Values:
        """The values of a region; raises whatever NEO raises."""
        rows, wanted = region
        values = np.empty(region_shape(region), self.dtype)
        left = np.ones(values.shape[1], bool)
        for index, columns in self.columns.items():
            inside = [n for n, column in enumerate(columns) if wanted.start <= column < wanted.stop]
            if not inside:
                continue
            chunk = self.reader.get_analogsignal_chunk(
                self.block, self.segment, rows.start, rows.stop, stream_index=index
            )
            at = np.array([columns[n] for n in inside]) - wanted.start
            values[:, at] = np.asarray(chunk)[:, inside]
            left[at] = False
        if left.any():
            values[:, left] = self._stored(rows)[:, wanted][:, left]
        return values

    def _stored(self, rows: slice) -> Values:
        about = self.description
        if about is None:
            raise ValueError("the reference array has columns that are no channels of NEO's")
        if about["type"] != "raw":
            import h5py

            with h5py.File(about["file_path"], "r") as file:
                stored = file[about["hdf5_path"]]
                found = stored[:, rows].T if about.get("time_axis", 0) == 1 else stored[rows]
            return np.asarray(found)
        shape = tuple(map(int, about["shape"]))
        mapped = np.memmap(
            about["file_path"], np.dtype(about["dtype"]), "r", int(about["file_offset"]), shape
        )
        return np.asarray((mapped.T if about.get("time_axis", 0) == 1 else mapped)[rows])
