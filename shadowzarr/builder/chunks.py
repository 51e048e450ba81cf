"""Where chunks are: the part of the builder that locates the chunks of its arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UsageError
from ..refs.chunk_index import CHUNK_INDEX_THRESHOLD, empty_index, is_worth_an_index
from ..refs.document import IndexArray
from ..refs.node_checks import LARGEST
from . import checks
from .nodes import NodeBuilder
from .parts import ChunkRun


class ChunkBuilder(NodeBuilder):
    """Collects groups and arrays, and where the chunks of the arrays are."""

    def add_chunk(
        self,
        path: str,
        coordinates: Sequence[int],
        url: str,
        offset: int | None = None,
        length: int | None = None,
    ) -> None:
        """Say where one chunk is: a byte range of a file, or a whole file without offset and length.

        Parameters
        ----------
        path : str
            Path of the array.
        coordinates : sequence of int
            Chunk coordinates.
        url : str
            The file.
        offset, length : int, optional
            Where the chunk begins in it, and its stored bytes; both or neither.
        """
        array = self._array(path)
        coordinates = checks.numbers(coordinates, "coordinates", path)
        checks.check_coordinates(coordinates, array.grid, path)
        if coordinates in array.chunks:
            raise UsageError(f"chunk {coordinates} of array {path!r} was added already")
        if (offset is None) != (length is None):
            given = "length" if offset is None else "offset"
            raise UsageError(
                f"chunk {coordinates} of array {path!r} has {given} alone; expected both or neither"
            )
        place: list[Any] = [self._url(url, path)]
        if offset is not None and length is not None:
            offset, length = checks.number(offset, "offset", path), checks.number(length, "length", path)
            checks.check_end(offset, length, path, coordinates)
            place += [offset, length]
        array.chunks[coordinates] = place

    def add_chunks(
        self,
        path: str,
        *,
        url: str,
        coordinates: Any,
        offsets: Any,
        nbytes: Any,
        chunk_index_threshold: int | None = CHUNK_INDEX_THRESHOLD,
    ) -> None:
        """Say where many chunks are: one by one, or by a chunk index when that is smaller.

        Parameters
        ----------
        path : str
            Path of the array.
        url : str
            The file that all these chunks are in.
        coordinates : array_like
            Integers of shape (chunks, axes): chunk coordinates.
        offsets, nbytes : array_like
            Integers of shape (chunks,): where each chunk begins, and its stored bytes.
        chunk_index_threshold : int or None, optional
            Chunks above which there is a chunk index; None for never. An array has one index, and one
            of nearly nothing is not made.
        """
        array = self._array(path)
        coordinates = checks.table_column(coordinates, "coordinates", path, np.int64)
        offsets = checks.table_column(offsets, "offsets", path, np.uint64)
        nbytes = checks.table_column(nbytes, "nbytes", path, np.uint64)
        if chunk_index_threshold is not None:
            chunk_index_threshold = checks.number(chunk_index_threshold, "chunk_index_threshold", path)
        checks.check_table(coordinates, offsets, nbytes, array.grid, path)
        is_many = chunk_index_threshold is not None and len(offsets) > chunk_index_threshold
        if is_many and array.index is None and is_worth_an_index(array.grid, len(offsets)):
            index = empty_index(array.grid)
            places = np.ravel_multi_index(tuple(coordinates.T), array.grid)
            flat = index.reshape(-1, 2)
            flat[places, 0], flat[places, 1] = offsets, nbytes
            self.add_index(path, url, index)
            return
        rows = zip(coordinates.tolist(), offsets.tolist(), nbytes.tolist(), strict=True)
        for place, offset, length in rows:
            self.add_chunk(path, place, url, offset, length)

    def add_inline_chunk(self, path: str, coordinates: Sequence[int], data: bytes) -> None:
        """Hold one chunk in the document; it wins over a reference to the same chunk.

        Parameters
        ----------
        path : str
            Path of the array.
        coordinates : sequence of int
            Chunk coordinates.
        data : bytes
            The chunk as the array's codecs encode it. When all chunks of an array are inline and
            one has 4 KiB or more, `build` adds the zstd codec to the array and compresses them.
        """
        array = self._array(path)
        coordinates = checks.numbers(coordinates, "coordinates", path)
        checks.check_coordinates(coordinates, array.grid, path)
        if not isinstance(data, bytes | bytearray | memoryview):
            raise UsageError(
                f"data of chunk {coordinates} of array {path!r} is a {type(data).__name__}; expected bytes"
            )
        if coordinates in array.inline:
            raise UsageError(f"chunk {coordinates} of array {path!r} is held already")
        array.inline[coordinates] = bytes(data)

    def add_index(self, path: str, url: str, index: IndexArray) -> None:
        """Say where all chunks of an array are, by a chunk index.

        Parameters
        ----------
        path : str
            Path of the array.
        url : str
            The file that all chunks are in.
        index : numpy.ndarray
            uint64, shaped like the chunk grid plus a last axis of 2 for (offset, nbytes); chunks
            that were never written hold 2**64 - 1 twice. The bytes that it names are not compared with
            chunks, of which there may be millions.
        """
        array = self._array(path)
        checks.check_index(index, array.grid, path)
        if array.index is not None:
            raise UsageError(f"array {path!r} has a chunk index already; it names one file")
        array.index = {"url": checks.check_url(url, f"array {path!r}"), "index": index}

    def add_strided_chunks(
        self,
        path: str,
        *,
        ndim: int,
        url: str,
        start: int,
        stride: int,
        length: int,
        count: int,
        axis: int = 0,
    ) -> None:
        """Say where evenly spaced chunks along one axis are, by one gen entry.

        Parameters
        ----------
        path : str
            Path of the array.
        ndim : int
            Its number of axes; along the others there is one chunk.
        url : str
            The file.
        start : int
            Offset of the first chunk, in bytes.
        stride : int
            Bytes from one chunk to the next.
        length : int
            Bytes of a chunk.
        count : int
            Number of chunks.
        axis : int, optional
            The axis along which they follow each other.
        """
        rank = len(self._array(path).grid)
        ndim, axis = checks.number(ndim, "ndim", path), checks.number(axis, "axis", path)
        if ndim != rank:
            raise UsageError(f"ndim {ndim}: array {path!r} has {rank} axes")
        if axis >= rank:
            raise UsageError(f"axis {axis}: array {path!r} has {rank} axes")
        along = [number == axis for number in range(rank)]
        self.add_spaced_chunks(
            path,
            url=url,
            start=start,
            length=length,
            counts=[count if here else 1 for here in along],
            strides=[stride if here else 0 for here in along],
        )

    def add_spaced_chunks(
        self,
        path: str,
        *,
        url: str,
        start: int,
        length: int,
        counts: Sequence[int],
        strides: Sequence[int],
        first: Sequence[int] | None = None,
    ) -> None:
        """Say where chunks are that are evenly spaced along each axis, by one gen entry.

        Parameters
        ----------
        path : str
            Path of the array.
        url : str
            The file.
        start, length : int
            Offset of the first chunk, and bytes of each.
        counts, strides : sequence of int
            Along each axis: number of chunks, and bytes from one to the next, which may be negative.
        first : sequence of int, optional
            Coordinates of the first chunk.
        """
        array = self._array(path)
        rank = len(array.grid)
        first = (0,) * rank if first is None else first
        for name, values in (("counts", counts), ("strides", strides), ("first", first)):
            checks.check_rank(values, name, rank, path)
        run = ChunkRun(
            self._url(url, path),
            checks.number(start, "start", path),
            checks.number(length, "length", path),
            checks.numbers(first, "first", path),
            checks.numbers(counts, "count", path),
            checks.numbers(strides, "stride", path, least=-LARGEST),
        )
        if 0 in run.counts:
            return
        checks.check_run(run, array.grid, path)
        array.runs.append(run)

    def add_contiguous_chunks(
        self,
        path: str,
        *,
        url: str,
        start: int,
        shape: Sequence[int],
        chunk_shape: Sequence[int],
        itemsize: int,
        row_bytes: int | None = None,
    ) -> None:
        """Say where the slabs of an array are that lies in the file in one piece, row after row.

        Parameters
        ----------
        path : str
            Path of the array.
        url : str
            The file.
        start : int
            Offset of the first row, in bytes.
        shape, chunk_shape : sequence of int
            Those of the array. Chunks may differ from the shape along the first axis only. When they do
            not divide it, the last slab is referenced at full length; readers drop what lies past the
            array.
        itemsize : int
            Bytes of an element.
        row_bytes : int, optional
            Bytes from one row to the next, when a selection leaves some out.
        """
        array = self._array(path)
        shape = checks.same_numbers(shape, "shape", array, path)
        chunk_shape = checks.same_numbers(chunk_shape, "chunk_shape", array, path)
        itemsize = checks.number(itemsize, "itemsize", path, least=1)
        if not shape:
            self.add_chunk(path, (), url, start, itemsize)
            return
        if shape[1:] != chunk_shape[1:]:
            raise UsageError(f"{path!r}: chunks {chunk_shape} cut {shape} along a later axis")
        if 0 in shape:
            return
        row = math.prod(shape[1:]) * itemsize
        if row_bytes is not None:
            row = checks.number(row_bytes, "row_bytes", path, least=1)
        count = -(-shape[0] // chunk_shape[0])
        slab = chunk_shape[0] * row
        if count == 1:
            self.add_chunk(path, (0,) * len(shape), url, start, slab)
            return
        self.add_strided_chunks(
            path, ndim=len(shape), url=url, start=start, stride=slab, length=slab, count=count
        )

    def add_selection(self, path: str, record_size: int, keep: Sequence[Sequence[int]]) -> None:
        """Say which bytes of each record of an array's references belong to it.

        Parameters
        ----------
        path : str
            Path of an array whose only codec is ``bytes``.
        record_size : int
            Bytes of a record.
        keep : sequence of (int, int)
            Half-open byte ranges of a record, joined in this order. A chunk is a whole number of
            records' kept bytes.
        """
        array = self._array(path)
        array.selection = checks.checked_selection(array, record_size, keep, path)

    def _url(self, url: Any, path: str) -> str:
        self._parts.urls[checks.check_url(url, f"array {path!r}")] = None
        return str(url)
