"""JSON → values of HDF5 in memory: what `values_to_json` wrote, and what Zarr attributes hold.

The two spell some things differently (a compound is a list of fields here and an object there, a
reference a path here and ``{"_REFERENCE": …}`` there); both are understood, so that a value that the Zarr
side keeps exactly need not be described again.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from h5py import h5t

from .heap import allocate
from .memory import MemoryForm, element_type, has_heap, memory_form, plain_dtype, sequence_dtype
from .names import name_to_text
from .references import NOWHERE, NULL, References
from .text import PREFIX, json_to_bytes, pad
from .type_names import PADDINGS
from .values_to_json import Values


def values_from_json(tid: h5t.TypeID, shape: Sequence[int], value: Any, references: References) -> Values:
    """Values of a datatype in memory; sequences in them are freed by `heap.release`.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype.
    shape : sequence of int
        Of the dataspace, without the axes of an array datatype.
    value : JSON
        The values, nested by shape; bytes and numbers that are not finite may be Python's own.
    references : References
        The objects of the file.

    Returns
    -------
    numpy.ndarray
        As `memory.memory_form` places them.

    Raises
    ------
    ValueError, TypeError, KeyError
        When the values do not fit the type and shape.
    """
    form = memory_form(tid)
    base, axes = element_type(tid)
    whole = _whole(form, tuple(shape), value) if not has_heap(tid) else None
    if whole is not None:
        return whole
    values = np.zeros((*shape, *axes), memory_form(base).dtype)
    fill_values(base, values, value, references)
    return values


def fill_values(tid: h5t.TypeID, target: Values, value: Any, references: References) -> None:
    """Put values into memory that is there; as `values_from_json`, for a type that is no array.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype.
    target : numpy.ndarray
        As `memory.memory_form` or `memory.sequence_dtype` places it.
    value : JSON
        Nested by the shape of ``target``.
    references : References
        The objects of the file.
    """
    whole = value if isinstance(value, str) and value.startswith(PREFIX) and target.ndim else None
    if whole is not None and not has_heap(tid):
        data = json_to_bytes(whole)
        target[...] = np.frombuffer(data, target.dtype).reshape(target.shape)
        return
    _fill(tid, target, value, references)


def _whole(form: MemoryForm, shape: tuple[int, ...], value: Any) -> Values | None:
    """Values given as all their bytes."""
    if not isinstance(value, str) or not value.startswith(PREFIX):
        return None
    dtype, axes = form.dtype.subdtype if form.dtype.subdtype is not None else (form.dtype, ())
    if not shape and not axes:
        return None
    data = base64.b64decode(value.removeprefix(PREFIX), validate=True)
    if len(data) != math.prod((*shape, *axes)) * dtype.itemsize:
        return None
    return np.frombuffer(data, dtype).reshape(*shape, *axes).copy()


def _fill(tid: h5t.TypeID, target: Values, value: Any, references: References) -> None:
    if not target.ndim:
        _fill_one(tid, target, value, references)
        return
    if not isinstance(value, list | tuple) or len(value) != len(target):
        raise ValueError(f"values that are not nested as the shape {target.shape} asks")
    if _fill_numbers(tid, target, value):
        return
    for number, item in enumerate(value):
        _fill(tid, target[number, ...], item, references)


def _fill_numbers(tid: h5t.TypeID, target: Values, value: Any) -> bool:
    """A row of plain numbers at once; False when there is anything else in it."""
    dtype = plain_dtype(tid)
    if dtype is None or dtype.kind not in "iuf" or target.ndim != 1:
        return False
    kinds = {type(item) for item in value}
    if not kinds or not kinds <= ({int, float} if dtype.kind == "f" else {int, bool}):
        return False
    with np.errstate(over="ignore"):
        target[...] = np.array(value, dtype).view(f"V{dtype.itemsize}")
    return True


def _fill_one(tid: h5t.TypeID, target: Values, value: Any, references: References) -> None:
    match tid.get_class():
        case h5t.COMPOUND:
            _fill_fields(tid, target, value, references)
        case h5t.STRING:
            _fill_text(tid, target, value)
        case h5t.VLEN:
            target[...] = _sequence(tid.get_super(), value, references)
        case h5t.REFERENCE:
            target[...] = _reference(target, value, references)
        case _:
            target[...] = np.void(_number(tid, value))


def _fill_fields(tid: h5t.TypeCompoundID, target: Values, value: Any, references: References) -> None:
    numbers = range(tid.get_nmembers())
    if isinstance(value, Mapping):
        names = [name_to_text(tid.get_member_name(number)) for number in numbers]
        if set(names) != set(value):
            raise ValueError(f"fields {sorted(value)} for a compound of {names}")
        value = [value[name] for name in names]
    if not isinstance(value, list | tuple) or len(value) != len(numbers):
        raise ValueError("fields that are not those of the compound")
    for number, item in zip(numbers, value, strict=True):
        base, _ = element_type(tid.get_member_type(number))
        _fill(base, target[f"f{number}"], item, references)


def _fill_text(tid: h5t.TypeStringID, target: Values, value: Any) -> None:
    if not isinstance(value, str | bytes):
        raise TypeError(f"{type(value).__name__} in place of text")
    data = json_to_bytes(value)
    if target.dtype.kind == "O":
        if b"\0" in data:
            raise ValueError("a NUL in text of variable length")
        target[...] = data
    elif target.dtype.kind == "u":
        target[...] = allocate(data + b"\0")
    else:
        target[...] = np.void(pad(data, target.dtype.itemsize, PADDINGS[tid.get_strpad()]))


def _sequence(item: h5t.TypeID, value: Any, references: References) -> tuple[int, int]:
    dtype = sequence_dtype(item)
    base, axes = element_type(item)
    if isinstance(value, str) and value.startswith(PREFIX) and not has_heap(item):
        data = json_to_bytes(value)
        return len(data) // dtype.itemsize, allocate(data)
    if not isinstance(value, list | tuple):
        raise TypeError(f"{type(value).__name__} in place of a sequence")
    values = np.zeros((len(value), *axes), sequence_dtype(base))
    _fill(base, values, value, references)
    return len(value), allocate(values.tobytes()) if len(value) else 0


def _reference(target: Values, value: Any, references: References) -> Any:
    if isinstance(value, Mapping) and "_REFERENCE" in value:
        value = value["_REFERENCE"]["path"]
    is_region = target.dtype.kind == "O"
    if value == NULL:
        return None if is_region else 0
    if is_region:
        return references.region_reference(value)
    if isinstance(value, str):
        address = references.address(value)
        if address is None:
            raise ValueError(f"a reference to {value}, which is not there")
        return address
    if isinstance(value, Mapping) and value.get("dangling"):
        return NOWHERE
    raise TypeError(f"{type(value).__name__} in place of a reference")


def _number(tid: h5t.TypeID, value: Any) -> bytes:
    size = tid.get_size()
    dtype = plain_dtype(tid)
    if isinstance(value, bytes | str) and not (isinstance(value, str) and value.startswith("0x")):
        data = json_to_bytes(value)
        if len(data) != size:
            raise ValueError(f"{len(data)} bytes in a datatype of {size}")
        return data
    if dtype is None or dtype.kind == "V":
        raise TypeError(f"{type(value).__name__} in place of bytes")
    if dtype.kind == "c":
        return b"".join(_number(tid.get_super(), part) for part in value)
    if dtype.kind == "f" and isinstance(value, str):
        return np.frombuffer(bytes.fromhex(value[2:]), dtype.newbyteorder(">")).astype(dtype).tobytes()
    if isinstance(value, list | tuple | Mapping) or value is None:
        raise TypeError(f"{type(value).__name__} in place of a number")
    if dtype.kind in "iu" and not isinstance(value, int):
        raise TypeError(f"{type(value).__name__} in place of an integer")
    with np.errstate(over="ignore"):
        return np.array(value, dtype).tobytes()
