"""Zarr v2 data types and fill values → numpy's and those of Zarr v3 (Zarr v2, "Data type encoding").

A data type is numpy's text (``"<i2"``) or a list of fields. Objects (``"|O"``) are the subject of
``object_chunks``.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from ..refs.data_types import DType, byte_orders
from ..refs.fill_values import json_fill
from .reasons import NoV3FormError

OBJECT = "|O"
_FLOAT_WORDS = {
    "nan": "NaN",
    "infinity": "Infinity",
    "-infinity": "-Infinity",
    "inf": "Infinity",
    "-inf": "-Infinity",
}
_KINDS = frozenset("biufcSUVmM")


def is_object(entry: Any) -> bool:
    """Whether a data type is that of Python objects, whose form their codec decides."""
    return isinstance(entry, str) and entry[-1:] == "O"


def dtype_of(entry: Any) -> DType:
    """The numpy data type that ``.zarray`` names.

    Raises
    ------
    NoV3FormError
        When it is none, or one that Zarr v3 lacks.
    """
    try:
        dtype: DType = np.dtype(_spelled(entry))
    except (TypeError, ValueError, SyntaxError, RecursionError) as error:
        raise NoV3FormError(f"its data type {str(entry)[:60]} is not understood: {error}") from error
    if dtype.subdtype is not None or dtype.itemsize == 0 or not _is_known(dtype):
        raise NoV3FormError(f"its data type {str(entry)[:60]} has no form in Zarr v3")
    if len(byte_orders(dtype)) > 1:
        raise NoV3FormError("a compound with fields of both byte orders, of which Zarr v3 has one")
    return dtype


def v3_fill(dtype: DType, value: Any) -> Any:
    """A fill value of ``.zarray`` in the form that ``zarr.json`` has it; null, for none, is zero.

    Raises
    ------
    NoV3FormError
        When it is no value of the data type.
    """
    if value is None:
        return None
    try:
        return _fill(dtype, value)
    except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
        raise NoV3FormError(f"its fill value {str(value)[:40]!r} is none of {dtype}") from error


def _spelled(entry: Any) -> Any:
    """What numpy takes: fields are lists in JSON and tuples in numpy."""
    if not isinstance(entry, list):
        if not isinstance(entry, str):
            raise TypeError("expected text or a list of fields")
        return entry
    return [(str(name), _spelled(kind), *(tuple(shape) for shape in rest)) for name, kind, *rest in entry]


def _is_known(dtype: DType) -> bool:
    if dtype.subdtype is not None:
        return _is_known(dtype.subdtype[0])
    if dtype.names is not None:
        return all(_is_known(dtype[name]) for name in dtype.names) and dtype.itemsize == sum(
            dtype[name].itemsize for name in dtype.names
        )
    return dtype.kind in _KINDS and dtype.itemsize <= (
        16 if dtype.kind == "c" else 8 if dtype.kind == "f" else 2**31
    )


def _fill(dtype: DType, value: Any) -> Any:
    match dtype.kind:
        case "b":
            return bool(value)
        case "i" | "u":
            return _whole(dtype, value)
        case "f":
            return _float(value)
        case "c":
            parts = value if isinstance(value, list) else [value, 0.0]
            real, imaginary = map(_float, parts)
            return [real, imaginary]
        case "m" | "M":
            return int(np.iinfo(np.int64).min) if value == "NaT" else int(value)
        case "U":
            return value if isinstance(value, str) else ""
        case _:
            if not isinstance(value, str):
                return _zero_or_refused(value)
            data = base64.b64decode(value, validate=True)
            return json_fill(np.frombuffer(data.ljust(dtype.itemsize, b"\0")[: dtype.itemsize], dtype)[0])


def _zero_or_refused(value: Any) -> None:
    if value != 0:
        raise ValueError(value)


def _whole(dtype: DType, value: Any) -> int:
    if (
        isinstance(value, str)
        or value != int(value)
        or not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
    ):
        raise ValueError(value)
    return int(value)


def _float(value: Any) -> float | str:
    if isinstance(value, str):
        if value.lower() not in _FLOAT_WORDS:
            raise ValueError(value)
        return _FLOAT_WORDS[value.lower()]
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
