"""Text, object references and compounds with them: values that are held in the document.

HDF5 keeps variable-length text in heaps and references as addresses, neither of which a byte range can
give. Text becomes ``string``; references become the paths of their targets; a compound becomes a
``struct`` whose text and reference fields have a fixed width, as hdmf-zarr writes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from h5py import h5t
from numcodecs import VLenBytes, VLenUTF8

from .array_plan import ArrayPlan
from .copies import narrowed, packed_dtype
from .dataset_values import DatasetValues, Region, padded
from .dtypes import DType, bytes_codec, struct_marks, zarr_data_type
from .fill_values import bits_that_zarr_loses, is_shown, json_fill
from .inline_budget import InlineBudget
from .reasons import CannotRepresentError, reading
from .references import ReferenceResolver

MIN_FIELD_CHARACTERS = 512
"""Width of text and reference fields in a struct, as hdmf-zarr writes them; longer when need be."""

TEXT_CODEC: dict[str, Any] = {"name": "vlen-utf8", "configuration": {}}
BYTES_CODEC: dict[str, Any] = {"name": "vlen-bytes", "configuration": {}}
_BYTES_PER_TEXT = 64  # a guess; only the number of texts per chunk depends on it
_LEAST_BYTES = 4  # its length comes before a text
_BYTES_PER_ADDRESS = 8


def plan_text(values: DatasetValues, budget: InlineBudget) -> ArrayPlan:
    """Text of either length as ``string``.

    When an element is not valid UTF-8 the array becomes bytes, unchanged: ``null_terminated_bytes`` for
    text of fixed length, ``variable_length_bytes`` otherwise.
    """
    axes, length = values.dtype.shape, _fixed_length(values)
    budget.check(values.written_elements() * math.prod(axes) * max(_LEAST_BYTES, length or 0))
    found = {(*region.coordinates, *(0,) * len(axes)): values.read(region) for region in values.regions()}
    shape, chunk_shape = (*values.shape, *axes), (*values.chunk_shape, *axes)
    plan = plan_texts(chunk_shape, found, shape, _text_fill(values), length)
    budget.charge(list(plan.inline.values()))
    return plan


def plan_texts(
    chunk_shape: tuple[int, ...],
    found: Mapping[tuple[int, ...], np.ndarray[Any, DType]],
    shape: tuple[int, ...],
    fill: bytes,
    length: int | None,
) -> ArrayPlan:
    """Text in memory as ``string``, or as bytes when some of it is not UTF-8.

    Parameters
    ----------
    chunk_shape : tuple of int
        Of the array.
    found : mapping
        Values by the coordinates of their chunk; those at the end of an axis may be short.
    shape : tuple of int
        Of the array.
    fill : bytes
        What was never written.
    length : int or None
        Bytes of an item, when that is fixed.
    """
    plan = ArrayPlan(shape, chunk_shape, "string", [TEXT_CODEC], "", {"_DTYPE": "str"})
    try:
        plan.fill_value = fill.decode("utf-8")
        for coordinates, part in found.items():
            texts = [item.decode("utf-8") for item in _items(padded(part, chunk_shape, fill))]
            plan.inline[coordinates] = VLenUTF8().encode(objects(texts))
    except UnicodeDecodeError:
        _make_bytes(plan, found, fill, length)
    return plan


def _make_bytes(plan: ArrayPlan, found: Mapping[Any, Any], fill: bytes, length: int | None) -> None:
    plan.converted.append("text that is not UTF-8, held as bytes")
    plan.attributes["_DTYPE"] = "bytes" if length is None else np.dtype(f"S{length}").name
    if length is None:
        plan.data_type, plan.codecs = "variable_length_bytes", [BYTES_CODEC]
        plan.fill_value = json_fill(np.array(fill, f"V{len(fill)}")) if fill else ""
    else:
        dtype = np.dtype(f"S{length}")
        plan.data_type, plan.codecs = zarr_data_type(dtype), [bytes_codec(dtype)]
        plan.fill_value = json_fill(np.array(fill, dtype))
    for coordinates, part in found.items():
        items = _items(padded(part, plan.chunk_shape, fill))
        encoded = VLenBytes().encode(objects(items)) if length is None else _fixed(items, length)
        plan.inline[coordinates] = bytes(encoded)


def plan_references(values: DatasetValues, resolver: ReferenceResolver, budget: InlineBudget) -> ArrayPlan:
    """Object references as the paths of their targets; null and dangling ones are empty."""
    budget.check(values.written_elements() * _BYTES_PER_ADDRESS)
    axes = values.dtype.shape
    memory_type = h5t.array_create(h5t.STD_REF_OBJ, axes) if axes else h5t.STD_REF_OBJ
    shape, chunk_shape = (*values.shape, *axes), (*values.chunk_shape, *axes)
    plan = ArrayPlan(shape, chunk_shape, "string", [TEXT_CODEC], "", {"_DTYPE": "object_reference"})
    before = resolver.dangling
    for region in values.regions():
        addresses = values.read_as(region, np.dtype("u8"), memory_type, axes)
        paths = padded(resolver.paths(addresses), chunk_shape, "")
        place = (*region.coordinates, *(0,) * len(axes))
        plan.inline[place] = VLenUTF8().encode(objects(paths.reshape(-1).tolist()))
    note_dangling(plan.converted, resolver.dangling - before)
    budget.charge(list(plan.inline.values()))
    return plan


def note_dangling(converted: list[str], count: int) -> None:
    """Say that references lead nowhere."""
    if count:
        converted.append(f"references to objects that have no path (any more), held as empty: {count}")


@dataclass(frozen=True, slots=True)
class Column:
    """One field of a compound that is no compound itself.

    Attributes
    ----------
    path : tuple of str
        Its name, after those of the compounds around it.
    kind : str
        ``plain``, ``text`` or ``reference``.
    dtype : numpy.dtype
        Of plain values: in the document, as `copies.packed_dtype` gives it.
    """

    path: tuple[str, ...]
    kind: Literal["plain", "text", "reference"]
    dtype: DType


def plan_table(values: DatasetValues, resolver: ReferenceResolver, budget: InlineBudget) -> ArrayPlan:
    """A compound with text or references as a packed little-endian ``struct``.

    Raises
    ------
    CannotRepresentError
        For a field that has no Zarr type, or a number that would change.
    """
    tid = values.tid
    columns = list(_columns(tid, ()))
    budget.check(values.written_elements() * max(1, tid.get_size()))
    before = resolver.dangling
    parts = [(region, _read_columns(values, region, columns, resolver)) for region in values.regions()]
    fills = [_column_fill(values, column) for column in columns]
    dtype = _struct(tid, (), _widths(columns, [*(part for _, part in parts), fills]))
    fill = _pack(columns, fills, dtype, ())
    plan = ArrayPlan(
        values.shape,
        values.chunk_shape,
        zarr_data_type(dtype),
        [bytes_codec(dtype)],
        json_fill(fill),
        struct_marks(dtype),
        lost_fill=bits_that_zarr_loses(fill),
    )
    references = [
        column.path[0] for column in columns if column.kind == "reference" and len(column.path) == 1
    ]
    if references:
        plan.attributes["_REFERENCE_FIELDS"] = references
    for region, part in parts:
        packed = _pack(columns, part, dtype, region.count)
        plan.inline[region.coordinates] = padded(packed, values.chunk_shape, fill).tobytes()
    note_dangling(plan.converted, resolver.dangling - before)
    budget.charge(list(plan.inline.values()))
    return plan


def table_itemsize(tid: h5t.TypeID) -> int:
    """Bytes of a row in the document, about.

    Raises
    ------
    CannotRepresentError
        As for `plan_table`.
    """
    sizes = {"plain": 0, "text": 4 * MIN_FIELD_CHARACTERS, "reference": 4 * MIN_FIELD_CHARACTERS}
    return sum(sizes[column.kind] or column.dtype.itemsize for column in _columns(tid, ()))


def text_itemsize() -> int:
    """Bytes of a text in the document, about."""
    return _BYTES_PER_TEXT


def _columns(tid: h5t.TypeCompoundID, above: tuple[str, ...]) -> Iterable[Column]:
    for number in range(tid.get_nmembers()):
        name = tid.get_member_name(number).decode("utf-8", "surrogateescape")
        member, path = tid.get_member_type(number), (*above, name)
        with reading(f"field {'.'.join(path)!r}"):
            dtype = member.dtype
        if member.get_class() == h5t.COMPOUND and dtype.kind != "c":
            yield from _columns(member, path)
        else:
            yield _leaf(member, path, dtype)


def _leaf(member: h5t.TypeID, path: tuple[str, ...], dtype: DType) -> Column:
    if member.get_class() == h5t.STRING:
        return Column(path, "text", dtype)
    if member.get_class() == h5t.REFERENCE and member.equal(h5t.STD_REF_OBJ):
        return Column(path, "reference", dtype)
    try:
        return Column(path, "plain", packed_dtype(dtype))
    except CannotRepresentError as error:
        raise CannotRepresentError(f"field {'.'.join(path)!r} of a compound: {error}") from error


def _read_columns(
    values: DatasetValues, region: Region, columns: list[Column], resolver: ReferenceResolver
) -> list[np.ndarray[Any, DType]]:
    """Values of the fields: text as str (or bytes when not UTF-8), references as paths."""
    rows = values.read(region)
    found = []
    for column in columns:
        if column.kind == "reference":
            addresses = values.read_as(region, np.dtype("u8"), _only(column.path, h5t.STD_REF_OBJ))
            found.append(resolver.paths(addresses))
        else:
            part = _field(rows, column.path)
            is_text = column.kind == "text"
            found.append(_decoded(part) if is_text else narrowed(np.asarray(part), column.dtype))
    return found


def _field(rows: Any, path: Sequence[str]) -> Any:
    for name in path:
        rows = rows[name]
    return rows


def _only(path: Sequence[str], memory_type: h5t.TypeID) -> h5t.TypeID:
    """The type that makes HDF5 read one field of a compound alone."""
    for name in reversed(path):
        outer = h5t.create(h5t.COMPOUND, memory_type.get_size())
        outer.insert(name.encode("utf-8", "surrogateescape"), 0, memory_type)
        memory_type = outer
    return memory_type


def _decoded(found: np.ndarray[Any, DType]) -> np.ndarray[Any, DType]:
    items = _items(found)
    try:
        texts: Sequence[str | bytes] = [item.decode("utf-8") for item in items]
    except UnicodeDecodeError:
        texts = items
    return objects(texts).reshape(found.shape)


def _column_fill(values: DatasetValues, column: Column) -> Any:
    """What a field holds where nothing was written."""
    nothing = "" if column.kind != "plain" else np.zeros(column.dtype.shape, column.dtype.base)
    properties = values.properties
    if column.kind == "reference" or not is_shown(properties):
        return nothing
    with reading("its fill value"):
        fill = values.dataset.fillvalue
    fill = _field(fill, column.path)
    if column.kind == "text":
        return _decoded(np.array(fill, object))[()]
    return narrowed(np.asarray(fill), column.dtype)


def _widths(columns: list[Column], parts: list[list[Any]]) -> dict[tuple[str, ...], DType]:
    """Data type of each column: text is as wide as its longest value needs."""
    dtypes: dict[tuple[str, ...], DType] = {}
    for number, column in enumerate(columns):
        if column.kind == "plain":
            dtypes[column.path] = column.dtype
            continue
        items = [item for part in parts for item in np.asarray(part[number], object).reshape(-1).tolist()]
        if any(isinstance(item, bytes) for item in items):
            longest = max(len(item if isinstance(item, bytes) else item.encode()) for item in items)
            dtypes[column.path] = np.dtype(f"S{max(1, longest)}")
        else:
            longest = max((len(item) for item in items), default=0)
            dtypes[column.path] = np.dtype(f"<U{max(MIN_FIELD_CHARACTERS, longest)}")
    return dtypes


def _struct(tid: h5t.TypeCompoundID, above: tuple[str, ...], leaves: dict[tuple[str, ...], DType]) -> DType:
    fields = []
    for number in range(tid.get_nmembers()):
        name = tid.get_member_name(number).decode("utf-8", "surrogateescape")
        path = (*above, name)
        fields.append((name, leaves.get(path) or _struct(tid.get_member_type(number), path, leaves)))
    return np.dtype(fields)


def _pack(
    columns: list[Column], part: list[Any], dtype: DType, count: tuple[int, ...]
) -> np.ndarray[Any, DType]:
    packed = np.zeros(count, dtype)
    for column, found in zip(columns, part, strict=True):
        field = _field(packed, column.path)
        if field.dtype.kind == "S":
            items = np.asarray(found, object).reshape(-1).tolist()
            encoded = [item if isinstance(item, bytes) else item.encode() for item in items]
            found = np.array(encoded, field.dtype).reshape(field.shape)
        field[...] = found
    return packed


def _text_fill(values: DatasetValues) -> bytes:
    """The text that is shown where nothing was written."""
    if not is_shown(values.properties):
        return b""
    with reading("its fill value"):
        fill = values.dataset.fillvalue
    items = set(_items(fill if isinstance(fill, np.ndarray) else objects([fill])))
    if len(items) > 1:
        raise CannotRepresentError("a fill value whose elements differ within an array datatype")
    return items.pop()


def _fixed_length(values: DatasetValues) -> int | None:
    base = values.dtype.base
    return base.itemsize if base.kind == "S" else None


def _items(values: np.ndarray[Any, DType]) -> list[bytes]:
    """The elements as bytes; h5py gives variable-length text as bytes, or str in some attributes."""
    return [
        item.encode("utf-8", "surrogateescape") if isinstance(item, str) else bytes(item or b"")
        for item in values.reshape(-1).tolist()
    ]


def objects(items: Sequence[Any]) -> np.ndarray[Any, DType]:
    """Items of any kind as a one-dimensional object array, never as an array of more axes."""
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _fixed(items: list[bytes], length: int) -> bytes:
    return np.array(items, f"S{length}").tobytes()
