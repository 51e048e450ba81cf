"""StoredArray: how an array in other files is made, and what is known of it. `array` cuts and joins it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

from ..refs.data_types import DataType, DType, data_type_of
from ..refs.document import Rfs, SourceEntry
from . import raw_files
from .layouts import Layout


class StoredArray:
    """An array as files hold it: where its chunks are, its data type, and what came with it."""

    def __init__(
        self,
        layout: Layout,
        *,
        dtype: DType,
        data_type: DataType | None = None,
        fill_value: Any = None,
        attributes: Mapping[str, Any] | None = None,
        dimension_names: Sequence[str | None] | None = None,
        sources: Mapping[str, SourceEntry] | None = None,
    ) -> None:
        layout.form  # noqa: B018  # says now, rather than when the document is built, what cannot be
        self._layout = layout
        self._dtype = dtype
        self._data_type = data_type_of(dtype) if data_type is None else data_type
        self._fill_value = fill_value
        self._attributes = dict(attributes or {})
        self._dimension_names = None if dimension_names is None else tuple(dimension_names)
        self._sources = dict(sources or {})

    @classmethod
    def contiguous(
        cls,
        path: str | os.PathLike[str],
        *,
        shape: Sequence[int],
        dtype: Any,
        offset: int = 0,
        chunk_shape: Sequence[int] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Self:
        """An array that lies in a file in one piece, row after row (C order).

        Parameters
        ----------
        path : str or path
            A file, or its URL; a local path is made absolute.
        shape : sequence of int
            Elements along each axis.
        dtype : numpy.dtype or what makes one
            In the file's byte order.
        offset : int, optional
            Bytes before the first element.
        chunk_shape : sequence of int, optional
            Elements of a chunk along each axis. When it is left out, an array of more than 4 MiB is cut into
            slabs along its first axis longer than 1, and each part of it anew, as `generate_rfs` cuts
            contiguous datasets.
        attributes : mapping, optional
            Of the array.

        Raises
        ------
        UsageError
            When an argument cannot be.
        """
        found = raw_files.plain_dtype(dtype)
        layout = raw_files.contiguous(path, shape=shape, dtype=found, offset=offset, chunk_shape=chunk_shape)
        return cls(layout, dtype=found, attributes=attributes)

    @classmethod
    def records(
        cls,
        path: str | os.PathLike[str],
        *,
        shape: Sequence[int],
        dtype: Any,
        record_size: int,
        skip: int = 0,
        offset: int = 0,
        chunk_shape: Sequence[int] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Self:
        """An array each row of which lies in one record of fixed size, such as a packet with a header.

        Parameters
        ----------
        path, shape, dtype, chunk_shape, attributes
            As for `contiguous`.
        record_size : int
            Bytes from the start of one record to the start of the next.
        skip : int, optional
            Bytes of a record before its row.
        offset : int, optional
            Bytes before the first record.

        Raises
        ------
        UsageError
            When an argument cannot be, or a row does not fit into a record.
        """
        found = raw_files.plain_dtype(dtype)
        layout = raw_files.records(
            path,
            shape=shape,
            dtype=found,
            record_size=record_size,
            skip=skip,
            offset=offset,
            chunk_shape=chunk_shape,
        )
        return cls(layout, dtype=found, attributes=attributes)

    @classmethod
    def blocks(
        cls,
        path: str | os.PathLike[str],
        *,
        shape: Sequence[int],
        chunk_shape: Sequence[int],
        dtype: Any,
        record_size: int,
        skip: int = 0,
        offset: int = 0,
        axis: int = 0,
        attributes: Mapping[str, Any] | None = None,
    ) -> Self:
        """An array each chunk of which lies in one record of fixed size.

        Parameters
        ----------
        path, shape, dtype, attributes
            As for `contiguous`.
        chunk_shape : sequence of int
            Elements in one record, in C order; along the other axes than ``axis`` all of them.
        record_size : int
            Bytes from the start of one record to the start of the next.
        skip : int, optional
            Bytes of a record before its elements.
        offset : int, optional
            Bytes before the first record.
        axis : int, optional
            The axis along which the records follow one another. The last may be cut short.

        Raises
        ------
        UsageError
            When an argument cannot be, or a chunk does not fit into a record.
        """
        found = raw_files.plain_dtype(dtype)
        layout = raw_files.blocks(
            path,
            shape=shape,
            chunk_shape=chunk_shape,
            dtype=found,
            record_size=record_size,
            skip=skip,
            offset=offset,
            axis=axis,
        )
        return cls(layout, dtype=found, attributes=attributes)

    @classmethod
    def from_chunks(
        cls,
        chunks: Mapping[Sequence[int], raw_files.Place] | Sequence[raw_files.Place],
        *,
        shape: Sequence[int],
        dtype: Any,
        chunk_shape: Sequence[int],
        attributes: Mapping[str, Any] | None = None,
    ) -> Self:
        """An uncompressed array of chunks that are given one by one.

        Parameters
        ----------
        chunks : sequence or mapping
            For each chunk a ``(file, offset, length)``, or a file that is the chunk: in C order of the chunk
            grid, or by chunk coordinates. A chunk that a mapping leaves out is zero. One at the array's end
            may be shorter than the others, by what lies past the array.
        shape, dtype, attributes
            As for `contiguous`.
        chunk_shape : sequence of int
            Elements of a chunk along each axis, stored in C order.

        Raises
        ------
        UsageError
            When an argument cannot be.
        """
        found = raw_files.plain_dtype(dtype)
        layout = raw_files.from_chunks(chunks, shape=shape, dtype=found, chunk_shape=chunk_shape)
        return cls(layout, dtype=found, attributes=attributes)

    @classmethod
    def from_memmap(
        cls,
        view: Any,
        *,
        url: str | os.PathLike[str] | None = None,
        chunk_shape: Sequence[int] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Self:
        """The part of a file that a memory map shows, or a view of one: a slice, a field, a transposition.

        Parameters
        ----------
        view : numpy.memmap, or a view of one
            Of a file; values that were changed in memory only are not in it.
        url : str or path, optional
            Where the file is for readers; the file that is mapped when it is left out.
        chunk_shape, attributes
            As for `contiguous`.

        Raises
        ------
        UsageError
            When it is no view of a file, or its data type is not plain.
        """
        from .memmap import memmap_layout

        layout, dtype = memmap_layout(view, url, chunk_shape)
        return cls(layout, dtype=dtype, attributes=attributes)

    @classmethod
    def from_rfs(cls, rfs: Rfs, path: str) -> Self:
        """An array of a reference file system, to be placed in another one, cut or joined.

        Parameters
        ----------
        rfs : Rfs
            Generated, built or loaded; it must not change until the new document is built. A chunk index
            has to be in memory (``load_rfs(…, read_indexes=True)``).
        path : str
            Path of the array.

        Raises
        ------
        UsageError
            When there is no such array, or its chunks do not form a regular grid.
        """
        from .from_rfs import array_parts

        return cls(**array_parts(rfs, path))

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return self._layout.shape

    @property
    def dtype(self) -> DType:
        """The numpy data type, in the byte order of the files."""
        return self._dtype

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Elements of a chunk along each axis."""
        return self._layout.chunk_shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self._dtype.itemsize

    @property
    def attributes(self) -> dict[str, Any]:
        """A copy of the attributes. Slices have those of the whole; see `with_attributes`."""
        return dict(self._attributes)

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        """Names of the axes, of an array that came with some."""
        return self._dimension_names
