"""Numbers compared by their bits: a NaN has its payload, -0.0 is not 0.0, the byte order is free.

Neither side is read here, and what a number means is nobody's business here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]


def is_same_type(wanted: np.dtype[Any], shown: np.dtype[Any]) -> bool:
    """Whether two data types hold the same numbers; byte order and padding are free.

    Parameters
    ----------
    wanted, shown : numpy.dtype
        Compounds are compared by the names and types of their fields.
    """
    if wanted.names is not None or shown.names is not None:
        return wanted.names == shown.names and all(
            is_same_type(wanted[name], shown[name]) for name in wanted.names or ()
        )
    if wanted.subdtype is not None or shown.subdtype is not None:
        return wanted.shape == shown.shape and is_same_type(wanted.base, shown.base)
    if wanted.kind in "mM":
        return wanted.newbyteorder("=") == shown.newbyteorder("=")  # the unit counts too
    return wanted.kind == shown.kind and wanted.itemsize == shown.itemsize


def different_bits(original: npt.NDArray[Any], given: npt.NDArray[Any]) -> Mask:
    """Which elements differ.

    Parameters
    ----------
    original, given : numpy.ndarray
        Of one shape, and of data types that `is_same_type` takes for the same.

    Returns
    -------
    numpy.ndarray of bool
        Of their shape.
    """
    if original.dtype.names is not None:
        return _different_fields(original, given)
    first, second = _raw(original), _raw(given)
    if np.array_equal(first, second):
        return np.zeros(original.shape, dtype=bool)
    difference: Mask = (first != second).reshape(*original.shape, -1).any(axis=-1)
    return difference


def _different_fields(original: npt.NDArray[Any], given: npt.NDArray[Any]) -> Mask:
    differing = np.zeros(original.shape, dtype=bool)
    for name in original.dtype.names or ():
        flags = different_bits(original[name], given[name])
        differing |= flags.reshape(*original.shape, -1).any(axis=-1)  # a field may be an array
    return differing


def _raw(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The bytes of an array in native order: one more axis, as long as an element."""
    if not array.dtype.isnative:
        array = array.byteswap().view(array.dtype.newbyteorder("="))
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.size == 0:
        return np.zeros((0, array.dtype.itemsize), np.uint8)
    return flat.view(np.uint8).reshape(flat.size, -1)
