"""Values of any reader as lists, so that they can be compared: text as str, references as paths."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_lists(array: Any, file: Any = None) -> Any:
    """Everything in an array, as h5py, zarr or LINDI gives it."""
    return plain(np.asarray(array[...]), file)


def plain(value: Any, file: Any = None) -> Any:
    """One value, or an array of them."""
    if isinstance(value, np.ndarray):
        if value.dtype.names is None and value.ndim:
            return [plain(each, file) for each in value]
        if value.ndim:
            return [plain(each, file) for each in value]
        value = value[()]
    if isinstance(value, np.void) and value.dtype.names:
        return [plain(value[name], file) for name in value.dtype.names]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.rstrip(b"\0").decode()
    if isinstance(value, complex):
        return [value.real, value.imag]
    if type(value).__name__ in ("Reference", "LindiH5pyReference"):
        return str(file[value].name)
    if isinstance(value, dict) and "_REFERENCE" in value:
        return str(value["_REFERENCE"]["path"])
    if isinstance(value, list | tuple):
        return [plain(each, file) for each in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
