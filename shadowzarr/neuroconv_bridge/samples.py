"""Whether a virtual array holds what NeuroConv would write: some rows of both, compared bit for bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..builder import RfsBuilder
from ..store.open_rfs import open_rfs
from ..virtual import VirtualArray
from .reasons import NotVirtualizable

_SAMPLED_BYTES = 2**18
_MOST_ROWS = 64


def compare_samples(data: Any, array: VirtualArray) -> None:
    """Compare the first rows, the last, and some in the middle.

    Parameters
    ----------
    data : array or iterator
        What NeuroConv gave; ``data[start:stop]`` are rows.
    array : VirtualArray
        Of local files.

    Raises
    ------
    NotVirtualizable
        When shapes, data types or values differ.
    """
    shape, dtype = tuple(data.shape), np.dtype(data.dtype)
    if (array.shape, array.dtype.newbyteorder("=")) != (shape, dtype.newbyteorder("=")):
        raise NotVirtualizable(
            f"NeuroConv writes {dtype} of shape {shape}, and the files hold {array.dtype} of shape "
            f"{array.shape}"
        )
    if 0 in shape:
        return
    builder = RfsBuilder()
    array.with_attributes({}).add_to(builder, "a")
    stored: Any = open_rfs(builder.build())["a"]
    for start, stop in _rows(shape, dtype.itemsize):
        wanted = np.asarray(data[start:stop])
        given = np.asarray(stored[start:stop])
        if wanted.shape != given.shape or wanted.astype(given.dtype).tobytes() != given.tobytes():
            raise NotVirtualizable(
                f"NeuroConv writes other values than the files hold, in rows {start} to {stop}: it computes "
                "them"
            )


def _rows(shape: tuple[int, ...], itemsize: int) -> set[tuple[int, int]]:
    size = math.prod(shape[1:]) * itemsize
    count = min(shape[0], max(1, min(_MOST_ROWS, _SAMPLED_BYTES // max(1, size))))
    last = shape[0] - count
    return {(start, start + count) for start in (0, last // 2, last)}
