"""VirtualArray: an array stored in other files, cut and joined like an array of numpy, without its data."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

from .._optional import require
from ..errors import NeedsDataError, UsageError
from ..notebook import table, titled
from ..refs.data_types import DataType, DType, data_type_of
from ..refs.document import Rfs, SourceEntry
from . import raw_files
from .indexing import normalized_axis, parse_index
from .layouts import Layout
from .placement import place

if TYPE_CHECKING:
    from ..builder import RfsBuilder
    from .placeholder import Placeholder


class VirtualArray:
    """An array stored in other files: its shape, data type and chunks, and where these are.

    It holds no data and reads no file. Indexing, `stack`, `concatenate` and `transpose` give other virtual
    arrays that point at the same bytes; what would need the data raises `NeedsDataError`. None of them takes
    longer for more chunks, since where these are is worked out when `RfsBuilder.build` makes the document.

    Make one by `contiguous`, `records`, `blocks`, `from_chunks`, `from_memmap` or `from_rfs`.
    """

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

    def with_attributes(self, attributes: Mapping[str, Any]) -> VirtualArray:
        """The same array with other attributes."""
        return self._as(self._layout, self._dimension_names, attributes)

    def with_sources(self, sources: Mapping[str, SourceEntry]) -> VirtualArray:
        """The same array with what is known of its files; documents that it is added to record that.

        Parameters
        ----------
        sources : mapping
            Size and, where there is one, ETag of files, by what references call them.
        """
        found = self._as(self._layout, self._dimension_names, self._attributes)
        found._sources = dict(sources)
        return found

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a virtual array without axes has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<VirtualArray shape={self.shape} dtype={self._dtype} chunk_shape={self.chunk_shape}>"

    def _repr_html_(self) -> str:
        files = ", ".join(place.partition("?")[0] if "://" in place else place for place in self._sources)
        rows = [
            ("shape", self.shape),
            ("data type", self._dtype),
            ("chunks", self.chunk_shape),
            ("axes", ", ".join(str(name) for name in self._dimension_names or ())),
            ("files", files),
        ]
        return titled("VirtualArray (holds no data)", table(row for row in rows if row[1] != ""))

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise NeedsDataError(
            "a virtual array holds no data; add_to(builder, path) puts it into references, which open_rfs "
            "opens"
        )

    def __getitem__(self, index: Any) -> VirtualArray:
        """A part of the array: integers, slices, and one list of integers or booleans.

        Raises
        ------
        OutOfRangeError
            When the index lies outside of the array; also an IndexError.
        NeedsDataError
            When the part would need data: with the axis, the rule, and what would work.
        UsageError
            For what is no index.
        """
        picks = parse_index(index, self.shape)
        layout, names = self._layout, self._dimension_names
        for axis, wanted in enumerate(picks):
            if not isinstance(wanted, int) and wanted is not None and not _is_all(wanted, self.shape[axis]):
                layout = layout.pick(axis, wanted, axis)
        for axis in reversed(range(len(picks))):
            number = picks[axis]
            if isinstance(number, int):
                layout = layout.drop(axis, number, axis)
        if names is not None:
            names = tuple(name for name, part in zip(names, picks, strict=True) if not isinstance(part, int))
        return self._as(layout, names, self._attributes)

    def transpose(self, *axes: int | Sequence[int] | None) -> VirtualArray:
        """The axes in another order; reversed when none is given.

        The chunks stay as they are stored, and the array gets Zarr's ``transpose`` codec when their bytes
        depend on the order, which they do not when a chunk extends along one axis only.

        Parameters
        ----------
        *axes : int
            For each axis of the result the axis that it is now, as numbers or as one sequence of them.

        Raises
        ------
        UsageError
            When these are not all axes.
        NeedsDataError
            When the bytes of a chunk are selected, and would have to be brought into another order.
        """
        given: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = tuple(normalized_axis(axis, self.ndim) for axis in given or reversed(range(self.ndim)))
        if sorted(order) != list(range(self.ndim)):
            raise UsageError(f"axes {order}: expected each of the {self.ndim} axes once")
        names = self._dimension_names
        turned = None if names is None else tuple(names[axis] for axis in order)
        return self._as(self._layout.permute(order), turned, self._attributes)

    @property
    def T(self) -> VirtualArray:  # noqa: N802  # as numpy calls it
        """The axes in reverse order."""
        return self.transpose()

    def add_to(
        self,
        builder: RfsBuilder,
        path: str,
        *,
        dimension_names: Sequence[str | None] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Add the array to a document. Where its chunks are is worked out when the document is built.

        Parameters
        ----------
        builder : RfsBuilder
            What collects the document.
        path : str
            Path of the array in it.
        dimension_names : sequence of str or None, optional
            One per axis; those that the array came with when it is left out.
        attributes : mapping, optional
            Besides those of the array, and in place of those of the same name.

        Raises
        ------
        UsageError
            When the document has something at that path, or an argument cannot be.
        """
        form, layout, sources = self._layout.form, self._layout, self._sources
        builder.add_array(
            path,
            shape=self.shape,
            data_type=self._data_type,
            chunk_shape=self.chunk_shape,
            codecs=form.all_codecs(self.ndim),
            fill_value=self._fill_value,
            attributes={**self._attributes, **(attributes or {})},
            dimension_names=self._dimension_names if dimension_names is None else dimension_names,
        )
        if form.keep:
            builder.add_selection(path, form.record_size, form.keep)
        builder.defer(lambda to: place(to, path, layout.pieces(), sources))

    def placeholder(self) -> Placeholder:
        """What stands for the array in an object of hdmf, such as the data of a pynwb ``TimeSeries``.

        hdmf-zarr writes the metadata of an array of its shape, data type and chunks, and no data; its
        ``array`` is this virtual array.

        Raises
        ------
        MissingDependencyError
            When hdmf is not installed.
        """
        require("hdmf", extra="nwb")
        from .placeholder import Placeholder

        return Placeholder(self)

    def _as(
        self, layout: Layout, names: Sequence[str | None] | None, attributes: Mapping[str, Any]
    ) -> VirtualArray:
        return VirtualArray(
            layout,
            dtype=self._dtype,
            data_type=self._data_type,
            fill_value=self._fill_value,
            attributes=attributes,
            dimension_names=names,
            sources=self._sources,
        )


def _is_all(wanted: Any, extent: int) -> bool:
    """Whether a pick takes all of an axis as it is."""
    return isinstance(wanted, range) and wanted == range(extent)
