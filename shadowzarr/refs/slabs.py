"""Slabs: how an array that lies in a file in one piece is cut into chunks. Pure.

As a single chunk, reading any part of such an array would fetch all of it; so it is cut along one axis
into slabs of about `CONTIGUOUS_CHUNK_BYTES`, which one ``gen`` entry describes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

CONTIGUOUS_CHUNK_BYTES = 4 * 2**20
"""Bytes above which an array in one piece is cut, and of a slab."""


_BLOCK = 2**16
"""Divisors that are tried at a time."""


@lru_cache(maxsize=256)  # the files of a recording are alike, and each slice of one asks again
def slab_height(rows: int, row_bytes: int, target_bytes: int) -> int:
    """Rows of one slab of an array that lies in the file in one piece.

    Parameters
    ----------
    rows : int
        Length of the axis that is cut.
    row_bytes : int
        Bytes of one row.
    target_bytes : int
        Wanted size of a slab.

    Returns
    -------
    int
        The largest divisor of ``rows`` between half the target and the target, so that all slabs have
        the same length; the target itself when there is none.
    """
    target = max(1, min(rows, target_bytes // max(1, row_bytes)))
    fewest, most = -(-rows // target), 2 * rows // target
    if most - fewest < target // 2:  # whichever is less to look through
        count = _first_divisor(rows, range(fewest, most + 1))
        return target if count is None else rows // count
    return _first_divisor(rows, range(target, -(-target // 2) - 1, -1)) or target


def _first_divisor(number: int, candidates: range) -> int | None:
    for start in range(0, len(candidates), _BLOCK):
        part = candidates[start : start + _BLOCK]
        divides = np.flatnonzero(number % np.arange(part.start, part.stop, part.step) == 0)
        if len(divides):
            return part[int(divides[0])]
    return None


def cut_axis(shape: Sequence[int]) -> int:
    """The axis along which slabs follow each other: the first that is longer than 1."""
    return next((axis for axis, extent in enumerate(shape) if extent > 1), 0)


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor that is not above a limit."""
    if number <= most:
        return number
    small = (n for n in range(1, math.isqrt(number) + 1) if number % n == 0)
    return max(n for pair in ((n, number // n) for n in small) for n in pair if n <= most)
