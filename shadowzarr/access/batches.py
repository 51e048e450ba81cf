"""The requests of one parallel round: what to ask for when ranges of a file are wanted at once.

Pure. A request costs about as much as some kilobytes, and what lies beside a node of metadata is often the
next one, so that a bounded number of bytes more than was asked for is worth reading: the smallest gaps
between ranges first, and what is around ranges that are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..refs.byte_range import FileRange

GAP_SHARE = 0.15
"""Bytes in gaps that are read, as a share of the bytes that were asked for."""

MAX_GAP = 32 * 2**10
"""Most bytes of a gap that is read."""

MAX_REQUEST = 2 * 2**20
"""Most bytes of a request: more come faster in parallel."""

_MIN_WINDOW = 1024
_MAX_WINDOW = 64 * 2**10

_Places = npt.NDArray[np.int64]


def plan_batch(
    ranges: Sequence[FileRange], *, size: int, spare: int = 0, gaps: int | None = None
) -> list[FileRange]:
    """Plan the requests of a round.

    Parameters
    ----------
    ranges : sequence of FileRange
        What is wanted, inside the file, in any order; they may overlap.
    size : int
        Bytes of the file.
    spare : int, optional
        Bytes that may be read beside what is wanted and ``gaps``.
    gaps : int, optional
        Bytes in gaps that may be read; `GAP_SHARE` of what is wanted by default.

    Returns
    -------
    list of FileRange
        In file order, without overlaps; every range lies in one of them or in several that touch.
    """
    if not ranges:
        return []
    pairs = np.array([(each.offset, each.length) for each in ranges], np.int64)
    starts, stops = _united(pairs[:, 0], pairs[:, 0] + pairs[:, 1])
    gaps = int(GAP_SHARE * int((stops - starts).sum())) if gaps is None else gaps
    starts, stops = _widened(starts, stops, size, spare // 2)
    starts, stops = _joined(starts, stops, spare // 2 + gaps)
    return [each for run in zip(starts.tolist(), stops.tolist(), strict=True) for each in _cut(*run)]


def _united(starts: _Places, stops: _Places) -> tuple[_Places, _Places]:
    """Ranges that overlap or touch as one."""
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(stops[order])
    return _kept(starts, reach, starts[1:] > reach[:-1])


def _kept(starts: _Places, stops: _Places, is_apart: npt.NDArray[Any]) -> tuple[_Places, _Places]:
    """Runs, cut where one range is apart from the next."""
    return starts[np.append(True, is_apart)], stops[np.append(is_apart, True)]


def _widened(starts: _Places, stops: _Places, size: int, spare: int) -> tuple[_Places, _Places]:
    """Few ranges as the aligned windows that they lie in."""
    window = min(_MAX_WINDOW, spare // len(starts))
    if window < _MIN_WINDOW:
        return starts, stops
    window = 1 << window.bit_length() - 1
    return _united(starts // window * window, np.minimum(-(-stops // window) * window, size))


def _joined(starts: _Places, stops: _Places, spare: int) -> tuple[_Places, _Places]:
    """Ranges with the smallest gaps between them as one, as long as bytes are to spare."""
    gaps = starts[1:] - stops[:-1]
    order = np.argsort(gaps, kind="stable")
    is_read = (np.cumsum(gaps[order]) <= spare) & (gaps[order] <= MAX_GAP)
    is_apart = np.ones(len(gaps), np.bool_)
    is_apart[order[is_read]] = False
    return _kept(starts, stops, is_apart)


def _cut(start: int, stop: int) -> list[FileRange]:
    """A run in equal parts that are not too large for a request."""
    parts = -(-(stop - start) // MAX_REQUEST)
    edges = [start + (stop - start) * part // parts for part in range(parts + 1)]
    return [FileRange(a, b - a) for a, b in pairwise(edges)]
