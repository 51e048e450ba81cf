"""Fill values in the form that ``zarr.json`` has them (Zarr v3 core specification, "Fill value"). Pure."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from .data_types import DataType, DType, zero_fill

_FLOAT_WORDS = ("NaN", "Infinity", "-Infinity")


def json_fill(value: Any) -> Any:
    """A fill value in its JSON form.

    Parameters
    ----------
    value : numpy scalar or array
        In any byte order; of one element, but for an array inside a compound.

    Returns
    -------
    bool, int, float, str, list or dict
        Numbers that are not finite as Zarr spells them, complex numbers as pairs, bytes in base64, a
        struct as an object of its fields.
    """
    dtype = value.dtype
    if np.ndim(value):
        return {str(n): json_fill(item) for n, item in enumerate(np.asarray(value).reshape(-1))}
    if dtype.names is not None:
        return {name: json_fill(np.asarray(value[name])) for name in dtype.names}
    match dtype.kind:
        case "b":
            return bool(value)
        case "i" | "u":
            return int(value)
        case "f":
            return _float(np.asarray(value))
        case "c":
            native = np.asarray(value).astype(dtype.newbyteorder("="))
            return [_float(native.real), _float(native.imag)]
        case "M" | "m":
            return int(np.asarray(value).view(f"{dtype.byteorder}i8"))
        case "U":
            return str(value)
        case _:
            return base64.b64encode(np.asarray(value).tobytes().rstrip(b"\0" * (dtype.kind == "S"))).decode()


def checked_fill(data_type: DataType, value: Any) -> Any:
    """The fill value to write for an array.

    Parameters
    ----------
    data_type : str or dict
        The array's.
    value
        Its fill value: in JSON's form, or a number of Python's or numpy's; None for zero.

    Raises
    ------
    ValueError
        When an array of that type cannot be filled with it.
    """
    if value is None:
        return zero_fill(data_type)
    if isinstance(value, np.generic | np.ndarray):
        value = json_fill(value)
    elif isinstance(value, complex):
        value = [_plain_float(value.real), _plain_float(value.imag)]
    elif isinstance(value, float):
        value = _plain_float(value)
    if isinstance(data_type, str) and not _fits(data_type, value):
        raise ValueError(f"fill_value {str(value)[:80]!r} is none of an array of {data_type}")
    return int(value) if _is_whole(data_type) else value


def _plain_float(value: float) -> float | str:
    return value if math.isfinite(value) else _float(np.asarray(value))


def _fits(data_type: str, value: Any) -> bool:
    """Whether a value in JSON's form is one of a data type; true for types that only zarr knows."""
    if data_type == "bool":
        return isinstance(value, bool)
    if _is_whole(data_type):
        limits = np.iinfo(data_type)
        is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
        return is_whole and limits.min <= value <= limits.max
    if data_type.startswith("float"):
        return _is_float(value)
    if data_type.startswith("complex"):
        return isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_float, value))
    return True


def _is_whole(data_type: DataType) -> bool:
    return isinstance(data_type, str) and data_type.removeprefix("u") in ("int8", "int16", "int32", "int64")


def _is_float(value: Any) -> bool:
    if isinstance(value, str):
        return value in _FLOAT_WORDS or value[:2] == "0x"
    return isinstance(value, int | float) and not isinstance(value, bool)


def _float(value: np.ndarray[Any, DType]) -> float | str:
    number = float(value)
    if np.isposinf(number):
        return "Infinity"
    if np.isneginf(number):
        return "-Infinity"
    if not np.isnan(number):
        return number
    native = value.astype(value.dtype.newbyteorder("="))
    bits = int(native.view(f"u{native.itemsize}"))
    plain = int(np.array(np.nan, native.dtype).view(f"u{native.itemsize}"))
    return "NaN" if bits == plain else f"0x{bits:0{2 * native.itemsize}x}"
