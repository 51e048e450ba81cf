"""The values of one dataset as h5py reads them, in pieces that become the chunks of an array.

For what is held in the document. Only regions that were written are read, so that a dataset of huge
shape and little data costs little. What the values become is decided by ``heap_values`` and ``copies``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5s, h5t

from .dtypes import DType, flattened
from .h5_chunk_utils import ChunkTable, chunk_locations, contiguous_offset, inline_chunk_shape
from .opened_object import OpenedDataset
from .reasons import CannotRepresentError, reading
from .whole_chunks import check_whole

TARGET_BYTES = 4 * 2**20
"""Uncompressed bytes of a chunk that is held in the document; a reader decodes it whole."""


@dataclass(frozen=True, slots=True)
class Region:
    """A piece of a dataset that becomes one chunk.

    Attributes
    ----------
    coordinates : tuple of int
        Of the chunk.
    start, count : tuple of int
        First element and number of elements along each axis, inside the dataset.
    """

    coordinates: tuple[int, ...]
    start: tuple[int, ...]
    count: tuple[int, ...]

    @property
    def selection(self) -> tuple[slice, ...]:
        """The region as h5py is asked for it."""
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.count, strict=True))


class DatasetValues:
    """A dataset cut into regions.

    Parameters
    ----------
    opened : OpenedDataset
        The dataset.
    itemsize : int
        Bytes that an element needs in the document, about.
    check : callable, optional
        Called once before the first value is read; it raises when h5py would give wrong values. By default
        the dataset's own chunks are looked at.
    """

    def __init__(self, opened: OpenedDataset, itemsize: int, check: Callable[[], None] | None = None) -> None:
        self._opened = opened
        self._check: Callable[[], None] | None = check or self._check_whole
        self.tid, self.properties = opened.type.tid, opened.properties
        self.dtype = flattened(opened.type.shown)
        self.shape: tuple[int, ...] = opened.shape or ()
        is_chunked = opened.layout == h5d.CHUNKED
        self._edges = opened.edges if is_chunked else (1,) * len(self.shape)
        self.table: ChunkTable | None = None
        if is_chunked:
            with reading("its chunks"):
                self.table = chunk_locations(opened.id)
        self.chunk_shape = inline_chunk_shape(self.shape, self._edges, itemsize, TARGET_BYTES)

    @property
    def dataset(self) -> h5py.Dataset:
        """The dataset as h5py shows it."""
        return self._opened.shown

    def regions(self) -> Iterator[Region]:
        """The regions that were written, in order.

        Raises
        ------
        CannotRepresentError
            When they are not stored whole, so that h5py would give what was in memory.
        """
        if 0 in self.shape or not self._is_written():
            return
        if self._check is not None:
            self._check()
            self._check = None
        if self.table is not None:
            starts = self.table.coordinates * np.array(self._edges, np.int64)
            distinct = np.unique(starts // np.array(self.chunk_shape, np.int64), axis=0)
            grid: Iterator[tuple[int, ...]] = map(tuple, distinct.tolist())
        else:
            counts = [-(-n // edge) for n, edge in zip(self.shape, self.chunk_shape, strict=True)]
            grid = iter(np.ndindex(*counts))
        for coordinates in grid:
            start = tuple(c * edge for c, edge in zip(coordinates, self.chunk_shape, strict=True))
            ends = zip(self.shape, start, self.chunk_shape, strict=True)
            yield Region(coordinates, start, tuple(min(edge, n - a) for n, a, edge in ends))

    def written_elements(self) -> int:
        """Upper bound of the elements that `regions` covers."""
        total = math.prod(self.shape)
        if self.table is not None:
            return min(total, len(self.table) * math.prod(self._edges))
        return total if self._is_written() else 0

    def _check_whole(self) -> None:
        if self.table is not None:
            check_whole(self._opened, self.table)

    def _is_written(self) -> bool:
        if self._opened.layout == h5d.CHUNKED:
            return self.table is not None and len(self.table) > 0
        if self._opened.layout == h5d.CONTIGUOUS and not self._opened.is_foreign:
            return contiguous_offset(self._opened.id) is not None
        return True

    def read(self, region: Region) -> np.ndarray[Any, DType]:
        """The values of a region as h5py gives them, with the axes of an array datatype at the end.

        Raises
        ------
        CannotRepresentError
            When h5py cannot read them.
        """
        try:
            with reading():
                if region.count == self.shape:
                    return self._read_whole()
                return as_array(self.dataset[region.selection], self._opened.type.shown, region.count)
        except CannotRepresentError:
            # HDF5 2.0 cannot fill the unwritten part of variable-length text in a file opened for
            # reading, but gives the written chunks (HDFGroup/hdf5#5394).
            if self.table is None or h5py.check_string_dtype(self._opened.type.shown) is None:
                raise
            return self._read_by_chunk(region, self.table)

    def _read_whole(self) -> np.ndarray[Any, DType]:
        """What h5py gives for everything, without working out what is selected."""
        values = np.zeros(self.shape, self._opened.type.shown)
        space = self._opened.space
        self._opened.id.read(space, space, values, self._opened.type.shown_tid)
        return values

    def _read_by_chunk(self, region: Region, table: ChunkTable) -> np.ndarray[Any, DType]:
        values = np.full(region.count, self.dataset.fillvalue, object)
        starts = table.coordinates * np.array(self._edges, np.int64)
        stops = np.array(region.start, np.int64) + np.array(region.count, np.int64)
        inside = (starts >= np.array(region.start, np.int64)).all(axis=1) & (starts < stops).all(axis=1)
        for start in starts[inside].tolist():
            ends = zip(start, self._edges, stops.tolist(), strict=True)
            source = tuple(slice(a, min(a + edge, stop)) for a, edge, stop in ends)
            target = tuple(
                slice(part.start - a, part.stop - a) for part, a in zip(source, region.start, strict=True)
            )
            with reading():
                values[target] = self.dataset[source]
        return values

    def read_as(
        self, region: Region, dtype: DType, memory_type: h5t.TypeID, axes: tuple[int, ...] = ()
    ) -> np.ndarray[Any, DType]:
        """The values of a region converted by HDF5 to a type of our choice.

        Parameters
        ----------
        region : Region
            What to read.
        dtype : numpy.dtype
            Element of the result.
        memory_type : h5py.h5t.TypeID
            What HDF5 converts to; its size is that of ``dtype`` times ``axes``.
        axes : tuple of int, optional
            Axes that the type adds.
        """
        values = np.zeros((*region.count, *axes), dtype)
        space = self._opened.id.get_space()
        if region.count:
            space.select_hyperslab(region.start, region.count)
            memory = h5s.create_simple(region.count)
        else:
            memory = h5s.create(h5s.SCALAR)
        with reading():
            self._opened.id.read(memory, space, values, memory_type)
        return values


def as_array(value: Any, dtype: DType, count: tuple[int, ...]) -> np.ndarray[Any, DType]:
    """What h5py gave for a region, as an array also where it gives a bare element."""
    if isinstance(value, np.ndarray):
        return value
    base, axes = dtype.subdtype if dtype.subdtype is not None else (dtype, ())
    values = np.empty((*count, *axes), base)
    values[()] = value
    return values


def padded(values: np.ndarray[Any, DType], chunk_shape: tuple[int, ...], fill: Any) -> np.ndarray[Any, DType]:
    """Values of a region at the end of an axis, as a chunk of full size."""
    if values.shape == chunk_shape:
        return values
    chunk = np.empty(chunk_shape, values.dtype)
    chunk[...] = fill
    chunk[tuple(map(slice, values.shape))] = values
    return chunk
