"""One dataset of the new file, filled with its values.

Stored chunks are copied when the new dataset has the same chunks, filters and bytes; otherwise values are
decoded, and HDF5 encodes them again. A filter that may change values is only kept when what it gives back is
what was written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from h5py import h5s, h5t, h5z

from ...hdf5_types.defaults import default_type
from ...hdf5_types.heap import release, writes_a_copy
from ...hdf5_types.memory import element_type, has_heap, memory_form, plain_dtype
from ...hdf5_types.references import References
from ...hdf5_types.spaces import NULL, dims_of
from ...hdf5_types.values_from_json import values_from_json
from .chunks import ArrayChunks, Region, decoded
from .creation import DatasetPlan, has_all_filters, make_dataset, usable_filters
from .described import DescribedFile
from .nursery import Nursery
from .report import ToHdf5Report
from .to_memory import Values, sequences_to_memory, to_memory

_FILTERS_OF_CODECS = {
    "numcodecs.zlib": h5z.FILTER_DEFLATE,
    "numcodecs.shuffle": h5z.FILTER_SHUFFLE,
    "numcodecs.fletcher32": h5z.FILTER_FLETCHER32,
    "imagecodecs_szip": h5z.FILTER_SZIP,
    "imagecodecs_lzf": 32000,
    "blosc": 32001,
    "imagecodecs_lz4h5": 32004,
    "zstd": 32015,
    "numcodecs.bz2": 307,
}
"""Codecs whose encoded bytes are those of an HDF5 filter."""

_OWN_CODEC = "shadowzarr.hdf5_filters"
"""Our codec, which is a filter pipeline of HDF5."""

_LOSSLESS = frozenset({1, 2, 3, 4, 307, 32000, 32001, 32004, 32008, 32015, 32026})
_ROWS_AT_ONCE = 65536


class ValuesChangedError(Exception):
    """What a filter gives back is not what was written."""


class DatasetWriter:
    """Makes and fills one dataset.

    Parameters
    ----------
    nursery : Nursery
        Where the dataset is until it has its name.
    path : str
        The dataset's path in the document.
    described : DescribedFile
        What is to be written.
    tid : h5py.h5t.TypeID
        Its datatype, committed or not.
    references : References
        The objects of the new file.
    report : ToHdf5Report
        Collects what was done.
    check : callable
        Raises when the file could not be written.
    """

    def __init__(
        self,
        nursery: Nursery,
        path: str,
        described: DescribedFile,
        tid: h5t.TypeID,
        references: References,
        report: ToHdf5Report,
        check: Callable[[], None],
    ) -> None:
        self._check_output = check
        self._nursery = nursery
        self._path = path
        self._described = described
        self._node = described.node(path)
        self._entry = described.entry(path)
        self._plan = DatasetPlan(path, tid, described.shape(path), described.creation(path))
        self._shape = self._plan.shape
        self._tid = tid.copy()
        self._references = references
        self._report = report
        self.id = make_dataset(nursery, self._plan, usable_filters(self._plan, report), references, report)

    def is_late(self) -> bool:
        """Whether values can only be written when all other objects are there."""
        return has_heap(self._tid)

    def write_values(self) -> None:
        """Write all values that the document has."""
        try:
            self._write(self._references)
        except ValuesChangedError:
            self._report.change(self._path, "its filters would change values again; written without them")
            self.id = make_dataset(self._nursery, self._plan, (), self._references, self._report)
            self._write(self._references)

    def _write(self, references: References) -> None:
        if self._shape == NULL:
            return
        if "value" in self._entry:
            self._write_described(references)
        elif self._node is not None and self._described.is_array(self._path):
            self._write_array(self._node, references)
        elif self._described.is_ragged(self._path):
            self._write_sequences(references)
        else:
            self._leave_out_values()

    def _leave_out_values(self) -> None:
        lost = self._described.section.get("notDescribed", [])
        reasons = [item["reason"] for item in lost if (item["path"], item["what"]) == (self._path, "values")]
        if reasons:
            self._report.leave_out(self._path, f"its values: {reasons[0]}")

    def _write_described(self, references: References) -> None:
        values = values_from_json(self._tid, dims_of(self._shape), self._entry["value"], references)
        self._put(values, None)

    def _write_array(self, node: Mapping[str, Any], references: References) -> None:
        name = self._path.strip("/")
        chunks = ArrayChunks(self._described.store, name, node, self._described.chunks(name))
        if self._copies_chunks(node):
            self._copy_chunks(chunks)
            return
        rank = len(dims_of(self._shape))
        for region in chunks.pieces():
            values = chunks.values(region)
            if not region.count and dims_of(self._shape):  # a cached specification, held as a scalar
                values, region = (
                    values.reshape(dims_of(self._shape)),
                    Region((0,) * rank, dims_of(self._shape)),
                )
            memory = to_memory(self._tid, values, references)
            self._put(memory, Region(region.start[:rank], region.count[:rank]))

    def _copies_chunks(self, node: Mapping[str, Any]) -> bool:
        """Whether the stored chunks of the document are those of the new dataset."""
        layout = self._plan.creation.get("layout", {})
        codecs = node["codecs"]
        wanted = [entry["id"] for entry in self._plan.filters]
        if layout.get("class") != "H5D_CHUNKED" or codecs[0]["name"] != "bytes":
            return False
        if [number for codec in codecs[1:] for number in _filters_of(codec)] != wanted:
            return False
        if not has_all_filters(self.id, self._plan):
            return False
        base, axes = element_type(self._tid)
        edges = node["chunk_grid"]["configuration"]["chunk_shape"]
        return edges == [*layout["dims"], *axes] and self._has_same_bytes(base, node)

    def _has_same_bytes(self, tid: h5t.TypeID, node: Mapping[str, Any]) -> bool:
        if has_heap(tid):
            return False
        if element_type(self._tid)[1] == () and self._described.dataset_type(self._path) == default_type(
            node
        ):
            return True
        plain = plain_dtype(tid)
        usual = default_type({**node, "attributes": {}})
        if plain is None or usual is None:
            return False
        order = "BE" if plain.byteorder == ">" else "LE"
        return plain.itemsize == 1 or (plain.kind in "iuf" and str(usual.get("base", "")).endswith(order))

    def _copy_chunks(self, chunks: ArrayChunks) -> None:
        edges, rank = self._plan.creation["layout"]["dims"], len(dims_of(self._shape))
        for place, data in chunks.stored():
            start = tuple(c * edge for c, edge in zip(place[:rank], edges, strict=True))
            self.id.write_direct_chunk(start, data)
            self._check_output()
            self._report.chunks_copied += 1

    def _write_sequences(self, references: References) -> None:
        name, dims = self._path.strip("/"), dims_of(self._shape)
        offsets, values = (self._array(f"{name}/{part}") for part in ("offsets", "values"))
        row = math.prod(dims[1:])
        rows = dims[0] if dims else 1
        step = max(1, _ROWS_AT_ONCE // max(1, row))
        last = self._described.last_row(f"{name}/offsets") // max(1, row)
        for start in range(0, min(rows, last) if row else 0, step):
            stop = min(rows, start + step)
            ends = np.asarray(decoded(offsets, slice(start * row, stop * row + 1))).tolist()
            items = np.asarray(decoded(values, slice(ends[0], ends[-1])))
            if not (np.diff(ends) >= 0).all():
                raise ValueError("its sequences end before they begin")
            count = (stop - start, *dims[1:]) if dims else ()
            memory = sequences_to_memory(self._tid, [end - ends[0] for end in ends], items, references)
            self._put(memory.reshape(count), Region((start, *(0,) * len(dims[1:])) if dims else (), count))

    def _array(self, name: str) -> Any:
        import zarr

        return zarr.open_array(self._described.store, path=name, mode="r", zarr_format=3)

    def _put(self, values: Values, region: Region | None) -> None:
        """Write a region, or everything; values are in memory as `memory.memory_form` says."""
        space = self.id.get_space()
        memory_space = space.copy()
        if region is not None and region.count:
            space.select_hyperslab(region.start, region.count)
            memory_space = h5s.create_simple(region.count)
        memory_type = memory_form(self._tid).tid
        try:
            if values.size:
                self.id.write(memory_space, space, np.ascontiguousarray(values), memory_type)
        finally:
            if writes_a_copy():
                release(element_type(self._tid)[0], values)
        self._check_output()
        self._report.pieces_written += 1
        self._check(values, memory_space, space, memory_type)

    def _check(
        self, values: Values, memory: h5s.SpaceID, space: h5s.SpaceID, memory_type: h5t.TypeID
    ) -> None:
        """Read again what went through a filter that may change values."""
        properties = self.id.get_create_plist()
        numbers = {properties.get_filter(number)[0] for number in range(properties.get_nfilters())}
        if numbers <= _LOSSLESS or has_heap(self._tid):
            return
        again = np.zeros_like(values)
        self.id.flush()
        self.id.read(memory, space, again, memory_type)
        if again.tobytes() != np.ascontiguousarray(values).tobytes():
            raise ValuesChangedError(self._path)


def _filters_of(codec: Mapping[str, Any]) -> list[int | None]:
    """Identifiers of the HDF5 filters whose encoded bytes a codec has; None for another codec."""
    if codec["name"] == _OWN_CODEC:
        return [entry["id"] for entry in codec["configuration"]["filters"]]
    return [_FILTERS_OF_CODECS.get(codec["name"])]
