"""Values of HDF5 in memory → JSON, without loss (HDF REST API, "Types", the examples' ``value``).

Numbers are numbers, text is text, a compound is the list of its fields, an enum its number, a reference
the path of its target. What JSON cannot hold exactly stands as its bits (`type_names.OWN_NAMES`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from h5py import h5t

from .heap import sequence_values, text_at
from .memory import DType, element_type, has_heap, plain_dtype
from .references import DANGLING, NULL, References, is_null_region
from .text import bytes_to_json, pad, text_to_json, unpad
from .type_names import PADDINGS

MOST_LISTED = 16
"""Elements above which values that mean something by themselves are given as their bytes."""

Values = np.ndarray[Any, DType]


def values_to_json(tid: h5t.TypeID, values: Values, references: References) -> Any:
    """Values of a datatype as JSON.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype.
    values : numpy.ndarray
        As `memory.memory_form` places them; axes of an array datatype at the end.
    references : References
        The objects of the file.

    Raises
    ------
    TypeError, ValueError
        For values that have no form.
    """
    if values.size > MOST_LISTED and not has_heap(tid):
        return bytes_to_json(np.ascontiguousarray(values).tobytes())
    base, _ = element_type(tid)
    return _nested(base, values, references)


def _nested(tid: h5t.TypeID, values: Values, references: References) -> Any:
    if values.ndim:
        return [_nested(tid, values[number, ...], references) for number in range(len(values))]
    return _element(tid, values, references)


def _element(tid: h5t.TypeID, value: Values, references: References) -> Any:
    """One value, as a zero-dimensional array."""
    match tid.get_class():
        case h5t.COMPOUND:
            return _fields(tid, value, references)
        case h5t.STRING:
            return _text(tid, value)
        case h5t.VLEN:
            return _sequence(tid, value, references)
        case h5t.REFERENCE:
            return _reference(value, references)
        case _:
            return _number(tid, value.tobytes())


def _fields(tid: h5t.TypeCompoundID, value: Values, references: References) -> list[Any]:
    items = []
    for number in range(tid.get_nmembers()):
        base, _ = element_type(tid.get_member_type(number))
        items.append(_nested(base, value[f"f{number}"], references))
    return items


def _text(tid: h5t.TypeStringID, value: Values) -> str:
    if value.dtype.kind == "O":
        text = value.item()
        return text_to_json(text if isinstance(text, bytes) else b"")
    if value.dtype.kind == "u":
        return text_to_json(text_at(int(value)))
    data, padding = value.tobytes(), PADDINGS.get(tid.get_strpad(), "")
    text = unpad(data, padding)
    return text_to_json(text) if pad(text, len(data), padding) == data else bytes_to_json(data)


def _sequence(tid: h5t.TypeVlenID, value: Values, references: References) -> Any:
    length, address = value.item()
    return values_to_json(tid.get_super(), sequence_values(tid.get_super(), length, address), references)


def _reference(value: Values, references: References) -> Any:
    if value.dtype.kind == "O":
        reference = value.item()
        return NULL if is_null_region(reference) else references.region(reference)
    address = int(value)
    if address == 0:
        return NULL
    path = references.path(address)
    return DANGLING if path is None else path


def _number(tid: h5t.TypeID, data: bytes) -> Any:
    dtype = plain_dtype(tid)
    if dtype is None or dtype.kind == "V" or tid.get_class() == h5t.BITFIELD:
        return bytes_to_json(data)
    number = np.frombuffer(data, dtype)[0]
    if dtype.kind == "c":
        half = len(data) // 2
        part = tid.get_super()
        return [_number(part, data[:half]), _number(part, data[half:])]
    if dtype.kind == "f":
        return float_to_json(number)
    return int(number)


def float_to_json(number: np.floating[Any]) -> float | str:
    """A floating-point number, or its bits when it is not finite."""
    if np.isfinite(number):
        return float(number)
    return "0x" + np.array(number, number.dtype.newbyteorder(">")).tobytes().hex()
