"""Values that LINDI's documents hold as text or JSON → arrays as ``generate_rfs`` makes them.

Text becomes ``string``, references the paths of their targets, and compounds a packed little-endian
``struct`` whose text and references have a fixed width; scalars, which LINDI keeps as arrays of one, have no
axes again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..formats.hdf5.array_plan import ArrayPlan
from ..formats.hdf5.dtypes import struct_marks
from ..formats.hdf5.heap_values import MIN_FIELD_CHARACTERS, TEXT_CODEC, note_dangling, plan_texts
from ..refs.data_types import DType, bytes_codec, data_type_of
from ..refs.document import Reference
from ..refs.fill_values import json_fill
from ..refs.inline import decode_inline
from ..refs.zarr_metadata import chunk_grid_shape
from ..zarr_v2 import NoV3FormError
from ..zarr_v2.chunk_values import chunk_values, objects_of
from ..zarr_v2.data_types import dtype_of, is_object, v3_fill
from ..zarr_v2.held_budget import HeldBudget
from .attributes import reference_path
from .marks import COMPOUND, REFERENCE_TYPE, SCALAR

Values = np.ndarray[Any, Any]
Chunks = Mapping[tuple[int, ...], Reference]
PathOf = Callable[[str], "str | None"]


def is_held(zarray: Mapping[str, Any], attributes: Mapping[str, Any], chunks: Chunks) -> bool:
    """Whether an array's values are made anew: the document holds all of them, or only it can hold them."""
    if attributes.get(SCALAR) is True or COMPOUND in attributes or is_object(zarray.get("dtype")):
        return True
    return bool(chunks) and all(isinstance(chunk, str) for chunk in chunks.values())


def plan_held(
    zarray: Mapping[str, Any],
    attributes: Mapping[str, Any],
    chunks: Chunks,
    path_of: PathOf,
    budget: HeldBudget,
) -> ArrayPlan:
    """What an array becomes whose values the document holds.

    Parameters
    ----------
    zarray, attributes : mapping
        Its metadata.
    chunks : mapping
        Its chunks by their coordinates.
    path_of : callable
        Absolute path of the node at a path; None when there is none.
    budget : HeldBudget
        What the document may hold.

    Raises
    ------
    NoV3FormError
        When its values are not of a kind that LINDI writes, are not in the document, or are too large.
    """
    shape, edges = tuple(zarray["shape"]), tuple(max(1, edge) for edge in zarray["chunks"])
    found: dict[tuple[int, ...], Values] = {}
    grid = chunk_grid_shape(shape, edges)
    for coordinates, chunk in chunks.items():
        if any(at >= count for at, count in zip(coordinates, grid, strict=True)):
            continue  # outside of the array, where nobody reads
        if not isinstance(chunk, str):
            raise NoV3FormError("text or objects that are in another file; LINDI holds them in the document")
        found[coordinates] = chunk_values(zarray, decode_inline(chunk), budget)
    if attributes.get(SCALAR) is True:
        if shape != (1,):
            raise NoV3FormError(f"a scalar of shape {list(shape)}; LINDI keeps scalars as arrays of one")
        shape = edges = ()
        first = found.get((0,))
        found = {} if first is None else {(): first[0:1].reshape(())}
    if COMPOUND in attributes:
        return _plan_table(shape, edges, found, attributes[COMPOUND], path_of, budget)
    if is_object(zarray["dtype"]):
        return _plan_objects(shape, edges, found, path_of)
    dtype = dtype_of(zarray["dtype"])
    if dtype.kind in "SU":
        length = dtype.itemsize if dtype.kind == "S" else None
        return plan_texts(edges, {at: _as_objects(part) for at, part in found.items()}, shape, b"", length)
    return _plan_numbers(shape, edges, found, zarray)


def _as_objects(values: Values) -> Values:
    return objects_of(values.reshape(-1).tolist()).reshape(values.shape)


def _plan_numbers(
    shape: tuple[int, ...],
    edges: tuple[int, ...],
    found: dict[tuple[int, ...], Values],
    zarray: Mapping[str, Any],
) -> ArrayPlan:
    dtype = dtype_of(zarray["dtype"])
    fill = v3_fill(dtype, zarray.get("fill_value"))
    fill = json_fill(np.zeros((), dtype)) if fill is None else fill
    plan = ArrayPlan(shape, edges, data_type_of(dtype), [bytes_codec(dtype)], fill, struct_marks(dtype))
    plan.inline = {coordinates: values.tobytes() for coordinates, values in found.items()}
    return plan


def _plan_objects(
    shape: tuple[int, ...],
    edges: tuple[int, ...],
    found: dict[tuple[int, ...], Values],
    path_of: PathOf,
) -> ArrayPlan:
    items = [item for values in found.values() for item in values.reshape(-1).tolist()]
    if all(isinstance(item, str) for item in items):
        return plan_texts(edges, found, shape, b"", None)
    if not all(reference_path(item) is not None or item in ("", None) for item in items):
        raise NoV3FormError("objects that are neither all text nor all references")
    counted = _Counted(path_of)
    plan = ArrayPlan(shape, edges, "string", [TEXT_CODEC], "", {"_DTYPE": "object_reference"})
    for coordinates, values in found.items():
        plan.inline[coordinates] = _encoded_texts(
            [counted.path(item) for item in values.reshape(-1).tolist()]
        )
    note_dangling(plan.converted, counted.dangling)
    return plan


def _encoded_texts(texts: list[str]) -> bytes:
    from numcodecs import VLenUTF8

    return bytes(VLenUTF8().encode(objects_of(texts)))


class _Counted:
    """Paths of references, and how many led nowhere."""

    def __init__(self, path_of: PathOf) -> None:
        self._path_of = path_of
        self.dangling = 0

    def path(self, item: Any) -> str:
        named = reference_path(item)
        if named is None:
            return ""
        found = self._path_of(named)
        if found is None:
            self.dangling += 1
        return found or ""


def _plan_table(
    shape: tuple[int, ...],
    edges: tuple[int, ...],
    found: dict[tuple[int, ...], Values],
    listed: Any,
    path_of: PathOf,
    budget: HeldBudget,
) -> ArrayPlan:
    """A compound; each item is the list of its fields."""
    fields = _fields(listed)
    counted = _Counted(path_of)
    columns = {at: _columns(values, fields, counted) for at, values in found.items()}
    dtype = np.dtype([(name, _width(n, kind, columns.values())) for n, (name, kind) in enumerate(fields)])
    fill = json_fill(np.zeros((), dtype))
    plan = ArrayPlan(shape, edges, data_type_of(dtype), [bytes_codec(dtype)], fill, struct_marks(dtype))
    references = [name for name, kind in fields if kind == REFERENCE_TYPE]
    if references:
        plan.attributes["_REFERENCE_FIELDS"] = references
    for at, parts in columns.items():
        budget.take(math.prod(edges) * dtype.itemsize)  # one long text widens the field in every row
        packed = np.zeros(math.prod(edges), dtype)
        for (name, _), part in zip(fields, parts, strict=True):
            packed[name] = part
        plan.inline[at] = packed.tobytes()
    note_dangling(plan.converted, counted.dangling)
    return plan


def _fields(listed: Any) -> list[tuple[str, str | DType]]:
    """Names of a compound's fields; of each its numpy type, `REFERENCE_TYPE`, or ``"text"``."""
    try:
        pairs = [(str(name), str(kind)) for name, kind in listed]
        fields: list[tuple[str, str | DType]] = []
        for name, kind in pairs:
            # LINDI's page has lost what is between the brackets.
            if kind in (REFERENCE_TYPE, ""):
                fields.append((name, REFERENCE_TYPE))
                continue
            dtype = np.dtype(kind)
            text = dtype.kind in "SUO"
            fields.append((name, "text" if text else dtype_of(kind).newbyteorder("<")))
    except (TypeError, ValueError, SyntaxError) as error:
        raise NoV3FormError(f"its {COMPOUND} is not understood: {error}") from error
    if len({name for name, _ in fields if name}) != len(fields) or not fields:
        raise NoV3FormError(f"its {COMPOUND} names no fields, one twice, or one by an empty name")
    return fields


def _columns(values: Values, fields: list[tuple[str, str | DType]], counted: _Counted) -> list[Values]:
    rows = values.reshape(-1).tolist()
    if not all(isinstance(row, list) and len(row) == len(fields) for row in rows):
        raise NoV3FormError(f"a row of a compound does not have its {len(fields)} fields")
    return [
        _column([row[number] for row in rows], name, kind, counted)
        for number, (name, kind) in enumerate(fields)
    ]


def _column(items: list[Any], name: str, kind: str | DType, counted: _Counted) -> Values:
    if kind == REFERENCE_TYPE:
        return objects_of([counted.path(item) for item in items])
    if kind == "text":
        if not all(isinstance(item, str) for item in items):
            raise NoV3FormError(f"the field {name!r} of a compound is no text")
        return objects_of(items)
    try:
        return np.array(items, kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise NoV3FormError(f"the field {name!r} of a compound is none of {kind}: {error}") from error


def _width(number: int, kind: str | DType, columns: Any) -> DType:
    """Data type of a field: text is as wide as its longest value needs."""
    if not isinstance(kind, str):
        return kind
    longest = max((len(item) for parts in columns for item in parts[number].tolist()), default=0)
    return np.dtype(f"<U{max(MIN_FIELD_CHARACTERS, longest)}")
