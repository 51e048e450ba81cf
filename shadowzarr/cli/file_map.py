"""A picture, in text, of where an array's chunks lie in their file.

Pure: byte ranges in, one line of characters out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SHADES = " ░▒▓█"
WIDTH = 64

Offsets = npt.NDArray[np.int64]


def file_map(offsets: Offsets, lengths: Offsets, size: int, *, width: int = WIDTH) -> str:
    """How densely byte ranges fill a file, in equal cells from its first byte to its last.

    Parameters
    ----------
    offsets, lengths : numpy.ndarray of int64
        Byte ranges.
    size : int
        Bytes of the file.
    width : int, optional
        Number of cells.

    Returns
    -------
    str
        ``width`` characters: a space where nothing lies, ``█`` where all bytes belong to the ranges.
    """
    filled = coverage(offsets, lengths, size, width=width)
    levels = np.where(filled > 0, np.clip(np.ceil(filled * 4), 1, 4), 0).astype(int)
    return "".join(SHADES[level] for level in levels)


def coverage(offsets: Offsets, lengths: Offsets, size: int, *, width: int = WIDTH) -> npt.NDArray[np.float64]:
    """The part of each cell of a file that byte ranges fill, 0 to 1; ranges do not overlap."""
    cell = max(size, 1) / width
    edges = np.arange(width + 1) * cell
    order = np.argsort(offsets)
    starts, ends = offsets[order].astype(float), (offsets + lengths)[order].astype(float)
    before = np.concatenate([[0.0], np.cumsum(ends - starts)])
    number = np.searchsorted(starts, edges, side="right")
    last = np.maximum(number - 1, 0)
    cut = np.where(number > 0, np.maximum(ends[last] - edges, 0.0), 0.0) if len(starts) else 0.0
    filled = before[number] - cut
    part: npt.NDArray[np.float64] = np.clip(np.diff(filled) / cell, 0.0, 1.0)
    return part


def runs(offsets: Offsets, lengths: Offsets) -> int:
    """How many pieces byte ranges form, where those that touch are one piece."""
    if not len(offsets):
        return 0
    order = np.argsort(offsets)
    starts, ends = offsets[order], (offsets + lengths)[order]
    return 1 + int((starts[1:] != ends[:-1]).sum())


def order_text(offsets: Offsets) -> str:
    """Whether chunks lie in the file in the order of the array."""
    if len(offsets) < 2 or bool((np.diff(offsets) > 0).all()):
        return "in order"
    forward = float((np.diff(offsets) > 0).mean())
    return f"out of order ({forward:.0%} of steps go forward)"
