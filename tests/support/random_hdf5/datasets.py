"""Datasets of random files: dataspace, layout, filters, fill value, and which parts are written."""

from __future__ import annotations

import contextlib
import importlib
import random
import zlib
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z
from hypothesis import strategies as st

from .types import HEAP, IS_HEAP, PLAIN, Datatype

LAYOUTS = {"compact": h5d.COMPACT, "contiguous": h5d.CONTIGUOUS, "chunked": h5d.CHUNKED}
ALLOCATION = {"default": None, "early": h5d.ALLOC_TIME_EARLY, "late": h5d.ALLOC_TIME_LATE}
FILL_TIMES = {"ifset": h5d.FILL_TIME_IFSET, "alloc": h5d.FILL_TIME_ALLOC, "never": h5d.FILL_TIME_NEVER}
PLUGINS = ("Blosc", "Blosc2", "Bitshuffle", "BZip2", "LZ4", "Zstd")
FOR_HEAPS = ("shuffle", "gzip", "fletcher32", "lzf")
"""Filters for values in heaps; the others crash HDF5, or the plug-in, while it writes such a dataset."""
FOR_NUMBERS = ("szip", "scaleoffset", "nbit")
FILTERS = (*FOR_HEAPS, *FOR_NUMBERS)


@dataclass(frozen=True)
class Dataset:
    """One dataset.

    Attributes
    ----------
    type : Datatype
        Its datatype.
    shape : tuple of int or None
        Its shape; None for a null dataspace.
    layout, allocation, fill_time : str
        Keys of the tables above.
    edges : tuple of int
        Chunk shape.
    growing : tuple of bool
        Which axes are unlimited.
    filters : tuple of str
        In order.
    seed : int
        Of its values.
    has_fill : bool
        Whether it has a fill value.
    written : float
        The part of the chunks, or of the rows, that is written.
    masked : int
        Chunks that are written past the filters.
    """

    type: Datatype
    shape: tuple[int, ...] | None
    layout: str = "contiguous"
    allocation: str = "default"
    fill_time: str = "ifset"
    edges: tuple[int, ...] = ()
    growing: tuple[bool, ...] = ()
    filters: tuple[str, ...] = ()
    seed: int = 0
    has_fill: bool = False
    written: float = 1.0
    masked: int = 0
    notes: list[str] = field(default_factory=list, compare=False, repr=False)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Any dataset that h5py can write."""
    kind = draw(st.sampled_from(PLAIN) if draw(st.integers(0, 3)) else st.sampled_from(HEAP))
    rank = draw(st.sampled_from((0, 1, 1, 1, 2, 2, 3)))
    if draw(st.integers(0, 24)) == 0:
        return Dataset(kind, None)
    extents = st.integers(0, 9) if rank > 1 else st.sampled_from((0, 1, 2, 3, 5, 8, 13, 40, 130))
    shape = tuple(draw(extents) for _ in range(rank))
    layout = (
        draw(st.sampled_from(("chunked", "chunked", "chunked", "contiguous", "compact")))
        if rank
        else (draw(st.sampled_from(("contiguous", "compact"))))
    )
    chunked = layout == "chunked"
    growing = tuple(draw(st.booleans()) for _ in shape) if chunked else ()
    edges = tuple(_edge(draw, extent, grows) for extent, grows in zip(shape, growing, strict=False))
    names = st.sampled_from(FOR_HEAPS if kind.name in IS_HEAP else (*FILTERS, *PLUGINS))
    filters = draw(st.lists(names, max_size=3, unique=True)) if chunked else []
    return Dataset(
        kind,
        shape,
        layout,
        draw(st.sampled_from(("default", "default", "early", "late"))),
        # References that were never filled are what lay in memory, another one each time.
        draw(st.sampled_from(("ifset", "ifset", "alloc", *(["never"] if kind.name not in IS_HEAP else [])))),
        edges,
        growing,
        _in_order(filters),
        draw(st.integers(0, 2**16)),
        draw(st.booleans()),
        draw(st.sampled_from((1.0, 1.0, 0.5, 0.0))),
        draw(st.sampled_from((0, 0, 1, 2))) if chunked and kind.name not in IS_HEAP else 0,
    )


def _in_order(filters: list[str]) -> tuple[str, ...]:
    """A filter that has to see the numbers comes first, and alone: HDF5 overruns its buffers otherwise."""
    first = [name for name in filters if name in FOR_NUMBERS][:1]
    return (*first, *(name for name in filters if name not in FOR_NUMBERS))


def _edge(draw: st.DrawFn, extent: int, grows: bool) -> int:
    most = extent + 3 if grows else max(1, extent)
    return draw(st.integers(1, max(1, min(most, 16 if extent < 40 else 64))))


def write_dataset(group: h5py.Group, name: str, spec: Dataset, targets: list[Any]) -> h5py.Dataset:
    """Write one dataset."""
    source = random.Random(spec.seed)
    dataset = h5py.Dataset(_create(group, name, spec, source))
    if spec.shape is not None:
        _write_values(dataset, spec, source, targets)
        if not _is_heap(spec):
            _write_masked(dataset, spec, source)
    return dataset


def _is_heap(spec: Dataset) -> bool:
    return spec.type.name in IS_HEAP


def _create(group: h5py.Group, name: str, spec: Dataset, source: random.Random) -> h5d.DatasetID:
    tid = spec.type.tid()
    if spec.shape is None:
        return h5d.create(group.id, name.encode(), tid, h5s.create(h5s.NULL))
    most = tuple(
        h5s.UNLIMITED if grows else max(1, extent)
        for extent, grows in zip(spec.shape, spec.growing, strict=False)
    )
    space = h5s.create_simple(spec.shape, most or None) if spec.shape else h5s.create(h5s.SCALAR)
    # A filter may refuse a type or a chunk shape: then the dataset goes without.
    for filters in (spec.filters, ()):
        with contextlib.suppress(ValueError, OSError, RuntimeError, TypeError):
            properties = _properties(spec, tid, filters, source)
            return h5d.create(group.id, name.encode(), tid, space, properties)
    properties = h5p.create(h5p.DATASET_CREATE)
    if spec.edges:
        properties.set_chunk(spec.edges)
    return h5d.create(group.id, name.encode(), tid, space, properties)


def _properties(
    spec: Dataset, tid: h5t.TypeID, filters: tuple[str, ...], source: random.Random
) -> h5p.PropDCID:
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_layout(LAYOUTS[spec.layout])
    if spec.edges:
        properties.set_chunk(spec.edges)
    if ALLOCATION[spec.allocation] is not None and spec.layout != "compact":
        properties.set_alloc_time(ALLOCATION[spec.allocation])
    properties.set_fill_time(FILL_TIMES[spec.fill_time])
    if spec.has_fill and not _is_heap(spec):
        raw = spec.type.values(source, 1, [])
        with contextlib.suppress(TypeError, ValueError, KeyError):
            dtype = tid.dtype
            if dtype.itemsize == len(raw):
                base, axes = dtype.subdtype or (dtype, ())
                value = np.frombuffer(raw, base).reshape(axes)
                properties.set_fill_value(value.reshape(axes) if axes else value[()].reshape(()))
    elif spec.has_fill and spec.type.name.endswith("text"):
        properties.set_fill_value(np.array(b"none yet", h5py.string_dtype()))
    for each in filters:
        _add_filter(properties, each)
    return properties


def _add_filter(properties: h5p.PropDCID, name: str) -> None:
    match name:
        case "shuffle":
            properties.set_shuffle()
        case "gzip":
            properties.set_deflate(4)
        case "fletcher32":
            properties.set_fletcher32()
        case "lzf":
            properties.set_filter(h5z.FILTER_LZF, h5z.FLAG_OPTIONAL)
        case "szip":
            properties.set_szip(h5z.SZIP_NN_OPTION_MASK, 4)
        case "scaleoffset":
            properties.set_scaleoffset(h5z.SO_INT, 0)
        case "nbit":
            properties.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL)
        case plugin:
            with contextlib.suppress(ImportError):
                made = getattr(importlib.import_module("hdf5plugin"), plugin)()
                properties.set_filter(made.filter_id, h5z.FLAG_OPTIONAL, tuple(made.filter_options))


def _pieces(dataset: h5py.Dataset, spec: Dataset) -> list[tuple[slice, ...]]:
    """The selections that are written one by one: chunks, or the whole."""
    shape = dataset.shape
    if not shape or spec.layout != "chunked" or 0 in shape:
        return [tuple(slice(0, n) for n in shape)]
    counts = [-(-n // edge) for n, edge in zip(shape, dataset.chunks, strict=True)]
    return [
        tuple(
            slice(at * edge, min(n, (at + 1) * edge))
            for at, edge, n in zip(place, dataset.chunks, shape, strict=True)
        )
        for place in np.ndindex(*counts)
    ]


def _write_values(dataset: h5py.Dataset, spec: Dataset, source: random.Random, targets: list[Any]) -> None:
    pieces = _pieces(dataset, spec)
    if spec.written < 1:
        pieces = pieces[: int(len(pieces) * spec.written)]
    if len(pieces) == int(np.prod([1])) and spec.written < 1 and spec.layout != "chunked":
        pieces = []
    if len(pieces) > 40:
        pieces = source.sample(pieces, 40)
    for piece in pieces:
        count = tuple(part.stop - part.start for part in piece)
        total = int(np.prod(count, dtype=int))
        if total == 0:
            continue
        _write_piece(dataset, spec, piece, count, spec.type.values(source, total, targets))


def _write_piece(
    dataset: h5py.Dataset, spec: Dataset, piece: tuple[slice, ...], count: tuple[int, ...], values: Any
) -> None:
    if _is_heap(spec):
        if not count:
            dataset[()] = values[0]
        elif h5py.check_vlen_dtype(dataset.dtype) is not None:
            whole = values.reshape(count)
            for place in np.ndindex(*count):  # h5py takes equal lengths for one more axis
                dataset[tuple(part.start + at for part, at in zip(piece, place, strict=True))] = whole[place]
        else:
            dataset[piece] = values.reshape(count)
        return
    tid = dataset.id.get_type()
    raw = np.frombuffer(values, f"V{tid.get_size()}").reshape(count).copy()
    space = dataset.id.get_space()
    if not count:
        dataset.id.write(h5s.ALL, h5s.ALL, raw, tid)
        return
    space.select_hyperslab(tuple(part.start for part in piece), count)
    dataset.id.write(h5s.create_simple(count), space, raw, tid)


def _write_masked(dataset: h5py.Dataset, spec: Dataset, source: random.Random) -> None:
    """Chunks that skipped their filters, or all of them but gzip."""
    number = dataset.id.get_create_plist().get_nfilters()
    if not spec.masked or not number or 0 in dataset.shape:
        return
    size = int(np.prod(dataset.chunks)) * dataset.id.get_type().get_size()
    names = [dataset.id.get_create_plist().get_filter(at)[0] for at in range(number)]
    for piece in source.sample(_pieces(dataset, spec), min(spec.masked, len(_pieces(dataset, spec)))):
        elements = size // dataset.id.get_type().get_size()
        data, mask = spec.type.values(source, elements, []), (1 << number) - 1
        if h5z.FILTER_DEFLATE in names and source.random() < 0.5:
            mask &= ~(1 << names.index(h5z.FILTER_DEFLATE))
            data = zlib.compress(data)
        start = tuple(part.start for part in piece)
        # HDF5 2.0 keeps the mask of a chunk that another of its size replaces: it is longer in between
        dataset.id.write_direct_chunk(start, data + b"\0", mask)
        dataset.id.write_direct_chunk(start, data, mask)
