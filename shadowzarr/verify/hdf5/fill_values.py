"""Whether the fill value of an array is that of the dataset. Values are compared by ``values``."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import Any

import numpy as np
import zarr

from .kinds import Form, Kind
from .values import mismatches, numbered_array


def same_fill(kind: Kind, fill: Any, node: zarr.Array[Any]) -> bool:
    """Whether zarr's fill value is HDF5's.

    Parameters
    ----------
    kind : Kind
        What the original holds.
    fill : scalar or array
        As h5py gives it.
    node : zarr.Array
        The array that stands for the dataset.
    """
    given = node.fill_value
    if kind.axes:
        kind = replace(kind, axes=())
        fill = np.asarray(fill).reshape(-1)[0]
    if kind.form is Form.COMPOUND:
        return all(
            _same_fill_field(field, np.asarray(fill)[name], np.asarray(given)[name])
            for name, field in kind.fields
        )
    return _same_fill_item(kind, fill, given)


def _same_fill_field(kind: Kind, fill: Any, given: Any) -> bool:
    """Whether the fill value of a field is HDF5's, which for an array has an element for each part."""
    if not kind.axes and kind.form is not Form.COMPOUND:
        return _same_fill_item(kind, fill, given)
    shown = numbered_array(np.asarray(given), kind.axes) if kind.axes else np.asarray(given)
    different = mismatches(kind, np.asarray(fill), shown, leads=lambda _reference, path: path == "")
    return not bool(np.asarray(different).any())


def _same_fill_item(kind: Kind, fill: Any, given: Any) -> bool:
    if kind.form in (Form.REFERENCE, Form.REGION):
        return str(given) == ""
    if kind.form is Form.PLAIN:
        given = np.asarray(given, dtype=kind.dtype)
        fill = np.asarray(fill).reshape(())
    elif kind.form is Form.TEXT:
        fill, given = np.asarray(fill, dtype=object).reshape(()), np.asarray(given, dtype=object).reshape(())
    return not bool(mismatches(kind, fill, given, leads=lambda _reference, path: path == "").any())


def states_fill(fill: Any, stated: Any) -> bool:
    """Whether the JSON of a ``zarr.json`` states a fill value bit for bit.

    Zarr itself shows another NaN for some of them, so this reads the JSON without it (Zarr v3 core
    specification, "Fill value").

    Parameters
    ----------
    fill : scalar or array
        As h5py gives it.
    stated : JSON
        The document's ``fill_value``.
    """
    value = np.asarray(fill)
    try:
        return _states(value, stated)
    except (TypeError, ValueError, KeyError, OverflowError, binascii.Error):
        return False


def _states(value: Any, stated: Any) -> bool:
    dtype = value.dtype
    if value.ndim:
        flat = value.reshape(-1)
        return all(_states(np.asarray(item), stated[str(n)]) for n, item in enumerate(flat))
    if dtype.names is not None:
        return set(stated) == set(dtype.names) and all(
            _states(np.asarray(value[name]), stated[name]) for name in dtype.names
        )
    match dtype.kind:
        case "f":
            return _float_bits(stated, dtype) == _bits(value)
        case "c":
            part = np.dtype(f"f{dtype.itemsize // 2}")
            return [_float_bits(each, part) for each in stated] == [_bits(value.real), _bits(value.imag)]
        case "b" | "i" | "u":
            return bool(value[()] == stated)
        case "O":
            return bool(stated == (value[()].decode() if isinstance(value[()], bytes) else value[()] or ""))
        case "S":
            return base64.b64decode(stated).rstrip(b"\0") == bytes(value[()])
        case _:
            return base64.b64decode(stated) == bytes(value.tobytes())


def _bits(value: Any) -> int:
    """The bits of a floating-point number, as one number."""
    return int.from_bytes(value.tobytes(), "big" if value.dtype.str[0] == ">" else "little")


def _float_bits(stated: Any, dtype: Any) -> int:
    if isinstance(stated, str) and stated.startswith("0x"):
        return int(stated, 16)
    return _bits(
        np.array({"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}.get(stated, stated), dtype)
    )
