"""VirtualArray: an array stored in other files, cut and joined like an array of numpy, without its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .._optional import require
from ..errors import NeedsDataError, UsageError
from ..notebook import table, titled
from ..refs.document import SourceEntry
from .indexing import normalized_axis, parse_index
from .layouts import Layout
from .placement import place
from .stored_array import StoredArray

if TYPE_CHECKING:
    from ..builder import RfsBuilder
    from .placeholder import Placeholder


class VirtualArray(StoredArray):
    """An array stored in other files: its shape, data type and chunks, and where these are.

    It holds no data and reads no file. Indexing, `stack`, `concatenate` and `transpose` give other virtual
    arrays that point at the same bytes; what would need the data raises `NeedsDataError`. None of them takes
    longer for more chunks, since where these are is worked out when `RfsBuilder.build` makes the document.

    Make one by `contiguous`, `records`, `blocks`, `from_chunks`, `from_memmap` or `from_rfs`.
    """

    def with_attributes(self, attributes: Mapping[str, Any]) -> VirtualArray:
        """The same array with other attributes.

        Parameters
        ----------
        attributes : mapping
            All that it has from now on.
        """
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
