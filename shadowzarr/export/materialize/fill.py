"""Whether values are nothing but the fill value, bit for bit: then their chunk need not be written.

zarr compares numbers, so that NaN with a payload and -0.0 would be dropped where the fill value is NaN or 0.0
(its `write_empty_chunks`, tried with 3.4); here only what a reader makes of a missing chunk counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def fill_element(array: Any) -> Values:
    """The fill value of a zarr array as an array of no axes."""
    dtype = array.dtype
    element = np.empty((), dtype)
    element[()] = array.fill_value
    return element


def is_fill(values: Values, fill: Values) -> bool:
    """Whether all values are the fill value, bit for bit."""
    if values.size == 0:
        return True
    if not is_plain(values.dtype):
        return bool(np.all(values == fill))
    bits, wanted = _bits(values), _bits(fill.reshape(1))
    if not np.array_equal(bits[:1], wanted):  # nearly always
        return False
    return bool((bits == wanted).all())


def same(values: Values, others: Values) -> bool:
    """Whether values are equal, bit for bit."""
    if values.shape != others.shape or values.dtype != others.dtype:
        return False
    if not is_plain(values.dtype):
        return bool(np.all(values == others))
    return np.array_equal(_bits(values), _bits(others))


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether the values of a type lie where the array is, and not behind pointers."""
    return not dtype.hasobject and dtype.kind != "T"


def _bits(values: Values) -> Values:
    """Elements as words, one or several for each: shape (elements, words)."""
    flat = np.ascontiguousarray(values).reshape(-1)
    word = next((size for size in (8, 4, 2) if flat.dtype.itemsize % size == 0), 1)
    if flat.dtype.itemsize == 0 or flat.size == 0:
        return np.zeros((flat.size, 0), np.uint8)
    return flat.view(np.uint8).reshape(flat.size, -1).view(_WORDS[word])
