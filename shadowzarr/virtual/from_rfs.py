"""One array of a reference file system → a layout and what belongs to it.

An array that lies in one piece of a file is one again, so it can be cut anywhere; any other is one of whole
chunks. Where those are is looked up when a document is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..attributes import decode_attributes
from ..errors import InvalidReferencesError, UsageError
from ..refs.array_layout import ArrayLayout
from ..refs.chunk_key import metadata_key
from ..refs.document import Rfs
from ..refs.inline import decode_inline
from ..refs.node_checks import codec_name, parse_node
from ..refs.selection import Selection, selected_length
from ..refs.zarr_metadata import chunk_grid_shape
from .axes import Axis, Numbers, Steps, evenly
from .chunk_bytes import ChunkForm
from .chunked import Chunked, full_picks
from .document_chunks import DocumentChunks
from .layouts import Layout
from .strided import Strided

_BYTES_OF_ANY_SHAPE = ("bytes", "vlen-utf8", "vlen-bytes")
"""Codecs from an array to bytes for which only the order of the elements counts."""


def array_parts(rfs: Rfs, path: str) -> dict[str, Any]:
    """What `VirtualArray` is made of, for an array of a document.

    Raises
    ------
    UsageError
        When there is no such array, or its chunks do not form a regular grid.
    """
    metadata = _metadata(rfs, path)
    layout = ArrayLayout.from_metadata(metadata, path)
    if layout.chunk_shape is None:
        raise UsageError(
            f"array {path!r} has a {metadata['chunk_grid']['name']} chunk grid; a virtual array has a "
            "regular one"
        )
    edges = tuple(max(1, edge) for edge in layout.chunk_shape)
    dtype = _dtype(metadata, path)
    source = DocumentChunks(rfs, path, layout, chunk_grid_shape(layout.shape, edges))
    form = _form(metadata, rfs, path, edges)
    itemsize = layout.itemsize or 0
    found: Layout | None = _in_one_piece(source, form, edges, itemsize)
    if found is None:
        axes = tuple(range(len(layout.shape)))
        found = Chunked(layout.shape, edges, source, full_picks(source.grid), axes, form, itemsize)
    return {
        "layout": found,
        "dtype": dtype,
        "data_type": metadata["data_type"],
        "fill_value": metadata.get("fill_value"),
        "attributes": decode_attributes(metadata.get("attributes") or {}),
        "dimension_names": metadata.get("dimension_names"),
        "sources": rfs.get("sources") or {},
    }


def _metadata(rfs: Rfs, path: str) -> dict[str, Any]:
    if not isinstance(rfs, Mapping) or "refs" not in rfs:
        raise UsageError(f"from_rfs takes references, found a {type(rfs).__name__} without them")
    key = metadata_key(path)
    value = rfs["refs"].get(key)
    if not isinstance(value, str):
        raise UsageError(f"the references have no array {path!r}; its refs have no metadata at {key!r}")
    metadata = parse_node(decode_inline(value), key)
    if metadata.get("node_type") != "array":
        raise UsageError(f"{path!r} is a {metadata.get('node_type')}; a virtual array is made of an array")
    return metadata


def _dtype(metadata: Mapping[str, Any], path: str) -> Any:
    from zarr.dtype import parse_dtype

    try:
        native = parse_dtype(metadata["data_type"], zarr_format=3).to_native_dtype()
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        # what zarr's data types raise on descriptions that are not theirs
        raise InvalidReferencesError(
            f"array {path!r} has a data type that zarr does not know: {error}"
        ) from error
    endian = [
        (codec.get("configuration") or {}).get("endian")
        for codec in metadata["codecs"]
        if isinstance(codec, Mapping) and codec["name"] == "bytes"
    ]
    return native.newbyteorder(">") if endian == ["big"] else native


def _form(metadata: Mapping[str, Any], rfs: Rfs, path: str, edges: tuple[int, ...]) -> ChunkForm:
    """How bytes become a chunk: transpositions in front of the other codecs are an order of axes."""
    codecs: list[dict[str, Any]] = [
        {"name": codec} if isinstance(codec, str) else dict(codec) for codec in metadata["codecs"]
    ]
    order = list(range(len(edges)))
    while len(codecs) > 1 and codecs[0]["name"] == "transpose":
        turn = codecs.pop(0)["configuration"]["order"]
        if turn in ("C", "F"):  # early drafts of Zarr v3 wrote these
            turn = range(len(edges)) if turn == "C" else range(len(edges))[::-1]
        order = [order[axis] for axis in turn]
    sees_shape = codec_name(codecs[0]) not in _BYTES_OF_ANY_SHAPE
    if not sees_shape:
        order = [axis for axis in order if edges[axis] > 1]
    entry = (rfs.get("selections") or {}).get(path)
    selection = None if entry is None else Selection.from_entry(entry)
    return ChunkForm(
        tuple(order),
        tuple(codecs),
        selection.record_size if selection else 0,
        selection.keep if selection else (),
        sees_shape,
    )


def _in_one_piece(
    source: DocumentChunks, form: ChunkForm, edges: tuple[int, ...], itemsize: int
) -> Strided | None:
    """An array of plain elements at even distances; None for any other."""
    if not itemsize or [codec["name"] for codec in form.codecs] != ["bytes"] or 0 in source.grid:
        return None
    rule = source.whole_rule()
    inner = None if rule is None else _elements(form, edges, itemsize)
    if rule is None or inner is None or not _is_long_enough(source, form, rule.length):
        return None
    start, axes = inner
    whole: list[Axis] = []
    for number, axis in enumerate(axes):
        count, extent = source.grid[number], source.layout.shape[number]
        if count == 1:
            short = axis if axis.count == extent else _first(axis, extent)
            if short is None:
                return None
            whole.append(short)
        elif edges[number] == 1:
            whole.append(Steps(extent, rule.strides[number]))
        elif isinstance(axis, Steps) and rule.strides[number] == axis.step * edges[number]:
            whole.append(Steps(extent, axis.step))
        else:
            return None
    return Strided(source.url_of_rule(), rule.start + start, tuple(whole), itemsize, form.codecs, edges)


def _is_long_enough(source: DocumentChunks, form: ChunkForm, nbytes: int) -> bool:
    """Whether the first chunk, and so each, holds the bytes that lie within the array."""
    if form.keep:
        nbytes = selected_length(nbytes, Selection(form.record_size, form.keep))
    return nbytes >= source.layout.needed_nbytes((0,) * len(source.grid))


def _first(axis: Axis, count: int) -> Axis | None:
    """The first places of an axis, when these include its very first."""
    return Steps(count, axis.step) if isinstance(axis, Steps) else None


def _elements(form: ChunkForm, edges: tuple[int, ...], itemsize: int) -> tuple[int, list[Axis]] | None:
    """Places of the elements of a chunk along each axis; None when they are no sum of such places."""
    order = [axis for axis in form.order if edges[axis] > 1]
    axes: list[Axis] = [Steps(1, 0) for _ in edges]
    kept = sum(stop - start for start, stop in form.keep)
    stride, start = itemsize, 0
    while order:
        axis = order[-1]
        if form.keep and stride >= kept:
            break
        axes[axis] = Steps(edges[axis], stride)
        stride *= edges[axis]
        order.pop()
    if not form.keep:
        return 0, axes
    inside = [axis for axis in axes if axis.count > 1]
    if stride != kept or len(inside) > 1:
        return None
    items = _items(form.keep, itemsize)
    if items is None:
        return None
    start, listed = evenly(items.tolist())
    if inside:
        axes[axes.index(inside[0])] = listed
    step = form.record_size
    for axis in reversed(order):
        axes[axis] = Steps(edges[axis], step)
        step *= edges[axis]
    return start, axes


def _items(keep: Sequence[tuple[int, int]], itemsize: int) -> Numbers | None:
    """Places of the elements that are kept of a record; None when ranges cut elements."""
    if any((stop - start) % itemsize for start, stop in keep):
        return None
    return np.concatenate([np.arange(start, stop, itemsize, dtype=np.int64) for start, stop in keep])
