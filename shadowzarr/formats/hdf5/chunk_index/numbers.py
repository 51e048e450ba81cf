"""Numbers in the bytes of many nodes at once, and the order of vectors of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .nodes import Bytes2D


def unsigned(data: Bytes2D) -> npt.NDArray[np.uint64]:
    """Little-endian numbers of any width up to 8 bytes, which lie along the last axis."""
    width = data.shape[-1]
    if width in (2, 4, 8) and data.strides[-1] == 1:
        found: npt.NDArray[np.uint64] = data.view(f"<u{width}")[..., 0].astype(np.uint64)
        return found
    wide = np.zeros((*data.shape[:-1], 8), np.uint8)
    wide[..., :width] = data
    return wide.view("<u8")[..., 0]


def fields_at(rows: Bytes2D, starts: npt.NDArray[Any], width: int) -> Bytes2D:
    """Bytes that begin at another place in each row."""
    places = starts.astype(np.int64)[:, None] + np.arange(width)
    return np.ascontiguousarray(np.take_along_axis(rows, places, axis=1))


def precedes(left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each vector of `left` comes before that of `right`; the first component counts most."""
    result = np.zeros(left.shape[:-1], np.bool_)
    for axis in reversed(range(left.shape[-1])):
        a, b = left[..., axis], right[..., axis]
        result = (a < b) | ((a == b) & result)
    return result
