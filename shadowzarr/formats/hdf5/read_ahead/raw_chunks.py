"""Stored chunks of small datasets → their elements, for the filters that text usually goes through.

The walk looks into them for pointers; values are read by HDF5. What went through other filters is left to it.
"""

from __future__ import annotations

import zlib

import numpy as np

from .fields import NotUnderstoodError
from .messages import Filters

_DEFLATE, _SHUFFLE, _FLETCHER32 = 1, 2, 3


def decoded(data: bytes, filters: Filters, mask: int, nbytes: int) -> bytes:
    """Undo filters.

    Parameters
    ----------
    data : bytes
        The stored chunk.
    filters : tuple of (int, tuple of int)
        In the order in which they were applied.
    mask : int
        Bit i is set when filter i was skipped.
    nbytes : int
        Bytes of a chunk; never more are made.

    Raises
    ------
    NotUnderstoodError
        For other filters, and for data that are not deflated.
    """
    for place in reversed(range(len(filters))):
        if mask >> place & 1:
            continue
        number, values = filters[place]
        if number == _DEFLATE:
            data = _inflated(data, nbytes)
        elif number == _SHUFFLE:
            data = _unshuffled(data, values[0] if values else 1)
        elif number == _FLETCHER32:
            data = data[:-4]
        else:
            raise NotUnderstoodError(f"the filter {number}")
    return data[:nbytes]


def _inflated(data: bytes, nbytes: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, nbytes + 4)  # a checksum may lie within
    except zlib.error as error:
        raise NotUnderstoodError(str(error)) from error


def _unshuffled(data: bytes, size: int) -> bytes:
    """Bytes of the same rank in all elements lie together; what remains at the end is not shuffled."""
    count = len(data) // size if size > 1 else 0
    whole = np.frombuffer(data, np.uint8, count * size).reshape(size, count) if count else None
    return data if whole is None else whole.T.tobytes() + data[count * size :]
