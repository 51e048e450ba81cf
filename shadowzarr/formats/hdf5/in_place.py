"""A dataset whose stored bytes are its values: references to them, or the values when they are few.

For contiguous, compact and chunked layouts (HDF5 File Format, IV.A.2.i). Which datasets qualify is
decided by ``datasets``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from h5py import h5d, h5s

from ...refs.slabs import cut_axis, slab_height
from . import h5_filters_to_codecs as filters_to_codecs
from .array_plan import ArrayPlan, Slabs
from .chunk_codecs import decode, encode
from .dataset_context import DatasetContext
from .dataset_values import padded
from .dtypes import DType, bytes_codec, struct_marks, zarr_data_type
from .fill_values import bits_that_zarr_loses, json_fill, stored_fill
from .h5_chunk_utils import (
    ChunkTable,
    chunk_locations,
    commonest_mask,
    contiguous_offset,
)
from .h5_filters_to_codecs import CodecChain, Filter, NoCodecError
from .opened_object import OpenedDataset
from .reasons import CannotRepresentError, reading
from .whole_chunks import check_whole, reaches_past

INLINE_BELOW = 1024
"""Bytes below which plain values are held in the document: a reference and its request cost more."""


@dataclass(frozen=True, slots=True)
class ZarrForm:
    """What ``zarr.json`` says of a numpy data type; not to be changed, since arrays share it.

    Attributes
    ----------
    data_type : str or dict
        Its name there.
    codec : dict
        The ``bytes`` codec.
    marks : dict
        What the convention adds to the attributes.
    """

    data_type: str | dict[str, Any]
    codec: dict[str, Any]
    marks: dict[str, Any]


@lru_cache(maxsize=256)
def zarr_form(dtype: DType) -> ZarrForm:
    """What ``zarr.json`` says of a numpy data type that is no subarray.

    Raises
    ------
    NotInPlaceError
        When Zarr has no such type.
    """
    return ZarrForm(zarr_data_type(dtype), bytes_codec(dtype), struct_marks(dtype))


@lru_cache(maxsize=256)
def _zarr_fill(dtype: DType, data: bytes) -> tuple[Any, bytes | None]:
    """A fill value in ``zarr.json``, and its bytes when zarr does not read it back; not to be changed."""
    fill = np.frombuffer(data, dtype).reshape(())
    return json_fill(fill), bits_that_zarr_loses(fill)


class InPlace:
    """A dataset whose stored bytes are its values.

    Parameters
    ----------
    opened : OpenedDataset
        The dataset, in the file itself.
    dtype : numpy.dtype
        As `dtypes.stored_dtype` gives it.
    context : DatasetContext
        The file and the options.
    """

    def __init__(self, opened: OpenedDataset, dtype: DType, context: DatasetContext) -> None:
        self._opened = opened
        self._dtype = dtype
        self._context = context
        self._base, self._axes = dtype.subdtype if dtype.subdtype is not None else (dtype, ())
        self._properties = opened.properties
        self._shape: tuple[int, ...] = opened.shape or ()
        self._fill = stored_fill(self._properties, dtype)

    def plan(self) -> ArrayPlan:
        """References to the stored bytes, or the values themselves when they are few.

        Raises
        ------
        NoCodecError
            When no codec undoes the filters.
        CannotRepresentError
            When the bytes are not there.
        """
        layout = self._opened.layout
        nbytes = math.prod(self._shape) * self._dtype.itemsize
        table = None
        if layout == h5d.CHUNKED:
            with reading("its chunks"):
                table = chunk_locations(self._opened.id)
        is_written = layout == h5d.COMPACT or (
            len(table) > 0 if table is not None else contiguous_offset(self._opened.id) is not None
        )
        if not is_written or nbytes == 0:
            return self.empty(self._shape if table is None else self._opened.edges)
        is_few = layout == h5d.COMPACT or (nbytes < INLINE_BELOW and not self._context.is_source)
        if table is not None:
            check_whole(self._opened, table, decode=is_few)
        if is_few:
            held = self._held(must=layout == h5d.COMPACT)
            if held is not None:
                return held
        return self._contiguous(nbytes) if table is None else self._chunked(table)

    def empty(self, chunk_shape: tuple[int, ...]) -> ArrayPlan:
        """An array of this type without chunks."""
        form, (shown, lost) = zarr_form(self._base), _zarr_fill(self._base, self._fill.tobytes())
        return ArrayPlan(
            (*self._shape, *self._axes),
            tuple(max(1, edge) for edge in (*chunk_shape, *self._axes)),
            form.data_type,
            [form.codec],
            shown,
            dict(form.marks),
            lost_fill=lost,
        )

    def _held(self, *, must: bool) -> ArrayPlan | None:
        """All values in one chunk; None when HDF5 lacks a filter and a codec may do."""
        plan = self.empty(self._shape)
        try:
            data = self._stored((0,) * len(self._shape), self._shape).tobytes()
        except CannotRepresentError:
            if must:
                raise
            return None
        self._context.budget.charge([data])
        plan.inline[(0,) * len(plan.shape)] = data
        return plan

    def _stored(self, start: tuple[int, ...], count: tuple[int, ...]) -> np.ndarray[Any, DType]:
        """Values of a region in the stored type, so that nothing is converted."""
        values = np.zeros((*count, *self._axes), self._base)
        space = self._opened.id.get_space()
        memory = h5s.create_simple(count) if count else h5s.create(h5s.SCALAR)
        with reading():
            if count:
                space.select_hyperslab(start, count)
            self._opened.id.read(memory, space, values, self._opened.tid.copy())
        return values

    def _contiguous(self, nbytes: int) -> ArrayPlan:
        start = self._opened.id.get_offset() + self._context.shift
        self._check_inside(start + nbytes)
        if nbytes <= self._context.contiguous_chunk_bytes or not self._shape:
            plan = self.empty(self._shape)
            plan.slabs = Slabs(start, nbytes, 1, 0)
            return plan
        axis = cut_axis(self._shape)
        rows, row_bytes = self._shape[axis], nbytes // self._shape[axis]
        height = slab_height(rows, row_bytes, self._context.contiguous_chunk_bytes)
        plan = self.empty((*self._shape[:axis], height, *self._shape[axis + 1 :]))
        plan.slabs = Slabs(start, height * row_bytes, -(-rows // height), axis)
        return plan

    def _chunked(self, table: ChunkTable) -> ArrayPlan:
        filters = filters_to_codecs.filter_pipeline(self._properties)
        table = self._absolute(table, len(filters))
        chain, mask = self._chain(table, filters)
        masks = self._unfiltered_edges(table, chain)
        if masks is not None:
            table = replace(table, filter_masks=masks)
        plan = self.empty(self._opened.edges)
        plan.codecs.extend(chain.codecs)
        is_odd = table.filter_masks != mask
        plan.chunks = self._widened(table[~is_odd])
        self._reencode(plan, table[is_odd], chain)
        return plan

    def _absolute(self, table: ChunkTable, filters: int) -> ChunkTable:
        offsets = table.offsets + np.uint64(self._context.shift)
        self._check_inside(int((offsets + table.nbytes).max()))
        return replace(
            table, offsets=offsets, filter_masks=table.filter_masks & np.uint32((1 << min(filters, 32)) - 1)
        )

    def _check_inside(self, end: int) -> None:
        if self._context.size is not None and end > self._context.size:
            raise CannotRepresentError(
                f"its bytes end at {end:,}, after the end of the file ({self._context.size:,} bytes)"
            )

    def _chain(self, table: ChunkTable, filters: tuple[Filter, ...]) -> tuple[CodecChain, int]:
        """Codecs for the commonest filter mask, compared with h5py when there is doubt."""
        mask = commonest_mask(table)
        used = filters_to_codecs.without_idle(filters_to_codecs.applied(filters, mask))
        usual = table[table.filter_masks == mask]
        chain = filters_to_codecs.codecs_for(used, self._dtype.itemsize)
        if chain is None or not (chain.is_proven or self._is_right(usual, chain, used)):
            chain = filters_to_codecs.own_codec(used)
            if not self._is_right(usual, chain, used):
                names = ", ".join(entry.name for entry in used)
                raise NoCodecError(f"no Zarr codecs give h5py's values for the filters {names}")
        return chain, mask

    def _is_right(self, usual: ChunkTable, chain: CodecChain, used: tuple[Filter, ...]) -> bool:
        """Whether codecs give h5py's values for the smallest and the largest chunk, where h5py can tell."""
        if not filters_to_codecs.can_undo(used):
            return True
        whole = usual[~self._is_partial(usual)]
        table = whole if len(whole) else usual
        rows = {int(table.nbytes.argmin()), int(table.nbytes.argmax())}
        return all(self._agrees(table, row, chain) for row in rows)

    def _unfiltered_edges(self, table: ChunkTable, chain: CodecChain) -> Any:
        """Filter masks, when the file does not filter the chunks that reach past the data."""
        partial = self._is_partial(table)
        if not chain.codecs or not partial.any() or (table.nbytes[partial] != self._chunk_bytes()).any():
            return None
        rows = np.flatnonzero(partial)
        if self._agrees(table, int(rows[0]), chain):
            return None
        return np.where(partial, np.uint32(2**32 - 1), table.filter_masks)

    def _is_partial(self, table: ChunkTable) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which chunks reach past the data."""
        return reaches_past(table, self._opened)

    def _agrees(self, table: ChunkTable, row: int, chain: CodecChain) -> bool:
        """Whether a chunk's stored bytes decode to what HDF5 reads."""
        start, count = self._extent(table, row)
        with reading():
            _, stored = self._opened.id.read_direct_chunk(start)
        data = decode(chain, bytes(stored), self._chunk_bytes())
        if data is None:
            return False
        chunk = np.frombuffer(data, self._base).reshape(*self._opened.edges, *self._axes)
        return chunk[tuple(map(slice, count))].tobytes() == self._stored(start, count).tobytes()

    def _extent(self, table: ChunkTable, row: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        edges = self._opened.edges
        start = tuple(int(c) * edge for c, edge in zip(table.coordinates[row], edges, strict=True))
        ends = zip(start, edges, self._shape, strict=True)
        return start, tuple(min(edge, extent - a) for a, edge, extent in ends)

    def _chunk_bytes(self) -> int:
        return int(math.prod(self._opened.edges) * self._dtype.itemsize)

    def _widened(self, table: ChunkTable) -> ChunkTable:
        """The table with a coordinate for each axis of an array datatype."""
        if not self._axes:
            return table
        zeros = np.zeros((len(table), len(self._axes)), np.int64)
        return replace(table, coordinates=np.hstack([table.coordinates, zeros]))

    def _reencode(self, plan: ArrayPlan, odd: ChunkTable, chain: CodecChain) -> None:
        """Chunks that went through other filters than the rest: held, as the array's codecs encode them."""
        check_whole(self._opened, odd)
        for row in range(len(odd)):
            start, count = self._extent(odd, row)
            chunk = padded(self._stored(start, count), plan.chunk_shape, self._fill)
            data = encode(chain, chunk.tobytes())
            if data is None:
                raise NoCodecError("its chunks went through different filters, and one has no encoder")
            coordinates = (*map(int, odd.coordinates[row]), *(0,) * len(self._axes))
            plan.inline[coordinates] = data
        if len(odd):
            self._context.budget.charge(list(plan.inline.values()))
            plan.converted.append(f"chunks that skipped filters, encoded anew: {len(odd)}")
