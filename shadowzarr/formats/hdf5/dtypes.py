"""HDF5 datatypes → numpy data types → Zarr data types and ``_DTYPE`` (HDF5 File Format, IV.A.2.d).

`stored_dtype` answers the one question that decides about references: are the bytes in the file the
values themselves? Only then may they be read in place. `zarr_data_type` says how a numpy type is called
in ``zarr.json``. Text, object references and sequences lie in heaps and are the subject of
``heap_values``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from h5py import h5t

from ...refs.data_types import DType as DType
from ...refs.data_types import byte_orders, data_type_of
from ...refs.data_types import bytes_codec as bytes_codec

_FLOATS = {
    h5t.IEEE_F16LE: "<f2",
    h5t.IEEE_F16BE: ">f2",
    h5t.IEEE_F32LE: "<f4",
    h5t.IEEE_F32BE: ">f4",
    h5t.IEEE_F64LE: "<f8",
    h5t.IEEE_F64BE: ">f8",
}
_BITFIELDS = {
    1: ((h5t.STD_B8LE, "u1"), (h5t.STD_B8BE, "u1")),
    2: ((h5t.STD_B16LE, "<u2"), (h5t.STD_B16BE, ">u2")),
    4: ((h5t.STD_B32LE, "<u4"), (h5t.STD_B32BE, ">u4")),
    8: ((h5t.STD_B64LE, "<u8"), (h5t.STD_B64BE, ">u8")),
}
ARRAY_FIELDS = "_ARRAY_FIELDS"
"""Attribute of an array of compounds that have arrays among their fields."""

MOST_PARTS = 4096
"""Numbers in one row of a ``struct``; its metadata name each of them, with its fill value."""

_NUMPY_TAG = b"NUMPY:"
_COMPLEX_SIZES = (8, 16)


class NotInPlaceError(Exception):
    """The stored bytes are not the values as they stand; the message says why."""


def stored_dtype(tid: h5t.TypeID) -> DType:
    """The numpy data type whose memory is the stored bytes.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype in the file.

    Returns
    -------
    numpy.dtype
        In the file's byte order; with a subarray for an array datatype.

    Raises
    ------
    NotInPlaceError
        When bytes and values differ (reduced precision, text, references, padding …), or h5py reads the
        type as another one.
    """
    dtype = _stored(tid)
    try:
        shown = tid.dtype
    except (TypeError, ValueError, KeyError) as error:
        raise NotInPlaceError(f"h5py cannot read its data type: {error}") from error
    if not same_dtype(dtype, shown):
        raise NotInPlaceError(f"h5py reads its data type as {shown}")
    return dtype


def _stored(tid: h5t.TypeID) -> DType:
    match tid.get_class():
        case h5t.INTEGER:
            return _integer(tid, "u" if tid.get_sign() == h5t.SGN_NONE else "i")
        case h5t.BITFIELD:
            return _bitfield(tid)
        case h5t.FLOAT:
            return _float(tid)
        case h5t.COMPLEX:
            return _complex(_stored(tid.get_super()), tid.get_size())
        case h5t.ENUM:
            return _enum(tid)
        case h5t.OPAQUE:
            return _opaque(tid)
        case h5t.ARRAY:
            return flattened(np.dtype((_stored(tid.get_super()), tid.get_array_dims())))
        case h5t.COMPOUND:
            return _compound(tid)
        case other:
            raise NotInPlaceError(f"its data type (class {other}) is not a plain one")


def _integer(tid: h5t.TypeID, kind: str) -> DType:
    size = tid.get_size()
    if size not in (1, 2, 4, 8):
        raise NotInPlaceError(f"integers of {size} bytes")
    if tid.get_precision() != 8 * size or tid.get_offset() != 0:
        raise NotInPlaceError(f"integers of {tid.get_precision()} bits in {8 * size}")
    return np.dtype(f"{_order(tid)}{kind}{size}")


def _bitfield(tid: h5t.TypeBitfieldID) -> DType:
    size = tid.get_size()
    if size not in _BITFIELDS:
        raise NotInPlaceError(f"bitfields of {size} bytes")
    for standard, name in _BITFIELDS[size]:
        if tid.equal(standard):
            return np.dtype(name)
    raise NotInPlaceError("a bitfield that does not use all of its bits")


def _float(tid: h5t.TypeID) -> DType:
    for standard, name in _FLOATS.items():
        if tid.equal(standard):
            return np.dtype(name)
    raise NotInPlaceError(f"floating-point numbers of {tid.get_precision()} bits, not IEEE 754 as stored")


def _complex(part: DType, size: int) -> DType:
    if part.kind != "f" or size not in _COMPLEX_SIZES or 2 * part.itemsize != size:
        raise NotInPlaceError(f"complex numbers of {size} bytes")
    return np.dtype(f"{part.byteorder if part.byteorder != '=' else '<'}c{size}")


def _enum(tid: h5t.TypeEnumID) -> DType:
    base = _stored(tid.get_super())
    if _dtype_or_none(tid) != np.bool_:
        return base
    if base.itemsize != 1:
        raise NotInPlaceError(f"booleans of {base.itemsize} bytes")
    return np.dtype(np.bool_)


def _opaque(tid: h5t.TypeOpaqueID) -> DType:
    tag = tid.get_tag()
    if tag.startswith(_NUMPY_TAG):
        named = _dtype_or_none(tid)
        if named is not None and named.kind in "mM":
            return named
    return np.dtype(f"V{tid.get_size()}")


def _compound(tid: h5t.TypeCompoundID) -> DType:
    count = tid.get_nmembers()
    members = [_stored(tid.get_member_type(number)) for number in range(count)]
    offsets = [tid.get_member_offset(number) for number in range(count)]
    packed = np.cumsum([0, *(member.itemsize for member in members)]).tolist()
    if [*offsets, tid.get_size()] != packed:
        raise NotInPlaceError("a compound with unused bytes or fields out of order")
    shown = _dtype_or_none(tid)
    if shown is not None and shown.kind == "c":
        return _complex(members[0], tid.get_size())
    dtype = np.dtype(
        [
            (tid.get_member_name(number).decode("utf-8", "surrogateescape"), member)
            for number, member in enumerate(members)
        ]
    )
    if len(byte_orders(dtype)) > 1:
        raise NotInPlaceError("a compound with fields of both byte orders")
    check_parts(dtype)
    return dtype


def check_parts(dtype: DType) -> None:
    """Refuse a compound of more parts than a ``struct`` should name.

    Raises
    ------
    NotInPlaceError
        When there are more than `MOST_PARTS`.
    """
    if _parts(dtype) > MOST_PARTS:
        raise NotInPlaceError(f"a compound of more than {MOST_PARTS:,} numbers")


def _parts(dtype: DType) -> int:
    if dtype.subdtype is not None:
        return math.prod(dtype.shape) * _parts(dtype.subdtype[0])
    return sum(_parts(dtype[name]) for name in dtype.names) if dtype.names is not None else 1


def _order(tid: h5t.TypeID) -> str:
    order = tid.get_order()
    if order == h5t.ORDER_LE:
        return "<"
    if order == h5t.ORDER_BE:
        return ">"
    raise NotInPlaceError("numbers in VAX or mixed byte order")


def _dtype_or_none(tid: h5t.TypeID) -> DType | None:
    try:
        dtype: DType = tid.dtype
    except (TypeError, ValueError, KeyError):
        return None
    return dtype


def flattened(dtype: DType) -> DType:
    """A data type with a subarray of subarrays as one subarray, as numpy makes arrays of it."""
    if dtype.subdtype is None or dtype.subdtype[0].subdtype is None:
        return dtype
    inner = flattened(dtype.subdtype[0])
    return np.dtype((inner.base, (*dtype.shape, *inner.shape)))


def same_dtype(one: DType, other: DType) -> bool:
    """Whether two data types are the same but for h5py's marks."""
    one, other = flattened(one), flattened(other)
    if one.subdtype or other.subdtype:
        if one.subdtype is None or other.subdtype is None or one.shape != other.shape:
            return False
        return same_dtype(one.subdtype[0], other.subdtype[0])
    if one.names is None or other.names is None:
        return one.names == other.names and one == other
    if one.names != other.names or one.itemsize != other.itemsize:
        return False
    return all(
        one.fields[name][1] == other.fields[name][1]  # type: ignore[index]
        and same_dtype(one.fields[name][0], other.fields[name][0])  # type: ignore[index]
        for name in one.names
    )


def has_misread_sequences(tid: h5t.TypeID) -> bool:
    """Whether a datatype holds sequences of big-endian numbers, whose bytes h5py 3.16 does not swap."""
    match tid.get_class():
        case h5t.VLEN:
            item = _dtype_or_none(tid.get_super())
            is_big = item is not None and item.names is None and "big" in byte_orders(item)
            return is_big or has_misread_sequences(tid.get_super())
        case h5t.ARRAY:
            return has_misread_sequences(tid.get_super())
        case h5t.COMPOUND:
            return any(has_misread_sequences(tid.get_member_type(n)) for n in range(tid.get_nmembers()))
        case _:
            return False


def has_overlapping_fields(tid: h5t.TypeID) -> bool:
    """Whether h5py gives a field more bytes than it has, into those of the next (bfloat16 as float32).

    h5py 3.16 keeps the file's offsets then, and HDF5 writes the values over one another.
    """
    match tid.get_class():
        case h5t.VLEN | h5t.ARRAY:
            return has_overlapping_fields(tid.get_super())
        case h5t.COMPOUND:
            numbers = range(tid.get_nmembers())
            members = [(tid.get_member_offset(n), tid.get_member_type(n)) for n in numbers]
            starts = sorted(start for start, _ in members)
            ends = dict(zip(starts, [*starts[1:], tid.get_size()], strict=True))
            return any(
                _overlaps(member, ends[start] - start) or has_overlapping_fields(member)
                for start, member in members
            )
        case _:
            return False


def _overlaps(tid: h5t.TypeID, room: int) -> bool:
    shown = _dtype_or_none(tid)
    return shown is not None and not shown.hasobject and shown.itemsize > room


def has_sequences_of_regions(tid: h5t.TypeID, *, inside: bool = False) -> bool:
    """Whether a datatype holds sequences of region references, which crash h5py when read repeatedly."""
    match tid.get_class():
        case h5t.VLEN:
            return has_sequences_of_regions(tid.get_super(), inside=True)
        case h5t.ARRAY:
            return has_sequences_of_regions(tid.get_super(), inside=inside)
        case h5t.COMPOUND:
            members = (tid.get_member_type(number) for number in range(tid.get_nmembers()))
            return any(has_sequences_of_regions(member, inside=inside) for member in members)
        case h5t.REFERENCE:
            return inside and not tid.equal(h5t.STD_REF_OBJ)
        case _:
            return False


def zarr_data_type(dtype: DType) -> str | dict[str, Any]:
    """The data type as ``zarr.json`` names it.

    Parameters
    ----------
    dtype : numpy.dtype
        Byte order is the codec's matter. An array inside a compound is a struct whose fields are
        numbered in C order, which has the same bytes; `array_fields` says which those are.

    Raises
    ------
    NotInPlaceError
        When Zarr has no such type.
    """
    try:
        return data_type_of(dtype)
    except ValueError as error:
        raise NotInPlaceError(str(error)) from error


def array_fields(dtype: DType) -> list[dict[str, Any]]:
    """The value of ``_ARRAY_FIELDS``: which fields of a compound are arrays, and their shapes.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the compound; anything else has none.

    Returns
    -------
    list of dict
        ``field``, the names on the way to it (without the numbers of arrays around it), and ``shape``.
    """
    found: list[dict[str, Any]] = []
    for name in dtype.names or ():
        field = dtype[name]
        if field.subdtype is not None:
            found.append({"field": [name], "shape": list(field.shape)})
        inner = array_fields(field.base)
        found += [{"field": [name, *entry["field"]], "shape": entry["shape"]} for entry in inner]
    return found


def struct_marks(dtype: DType) -> dict[str, Any]:
    """What the convention adds to the attributes of an array of this data type."""
    if dtype.names is None:
        return {"_DTYPE": type_name(dtype)}
    fields = array_fields(dtype)
    return {ARRAY_FIELDS: fields} if fields else {}


def type_name(dtype: DType) -> str | None:
    """The value of ``_DTYPE``: numpy's name of the type; None for a compound, which has none."""
    return None if dtype.names is not None else str(dtype.newbyteorder("=").name)
