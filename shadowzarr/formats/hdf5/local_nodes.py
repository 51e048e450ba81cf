"""Nodes of a local file: many of equal length at once, near ones by one call of the system."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...errors import ShortReadError
from ...refs.byte_range import FileRange
from .chunk_index import NodeGroup

Bytes2D = npt.NDArray[np.uint8]

_GAP = 16 * 2**10
"""Bytes between two nodes that are read rather than skipped: a call costs more."""

_RUN = 4 * 2**20
"""Bytes of a run of near nodes, about."""


def read_nodes(fd: int, groups: list[NodeGroup]) -> list[Bytes2D]:
    """The bytes of groups of nodes, as a walk of a chunk index wants them.

    Parameters
    ----------
    fd : int
        The open file.
    groups : list of NodeGroup
        Inside the file.

    Raises
    ------
    ShortReadError
        When the file is shorter than it was.
    """
    return [_read_group(fd, group) for group in groups]


def read_range(fd: int, wanted: FileRange) -> bytes:
    """Bytes of a range; fewer at the end of the file."""
    return os.pread(fd, wanted.length, wanted.offset)


def _read_group(fd: int, group: NodeGroup) -> Bytes2D:
    if len(group.offsets) == 1:
        node = os.pread(fd, group.length, int(group.offsets[0]))
        _check(len(node), group.length)
        return group.joined([node])
    found = np.empty((len(group.offsets), group.length), np.uint8)
    order = np.argsort(group.offsets, kind="stable")
    offsets = group.offsets[order]
    for start, stop in _runs(offsets, group.length):
        rows = order[start:stop]
        if len(rows) == 1:
            row = found[rows[0]]
            _check(os.preadv(fd, [row], int(offsets[start])), len(row))
            continue
        first = int(offsets[start])
        nbytes = int(offsets[stop - 1]) + group.length - first
        data = np.empty(nbytes, np.uint8)
        _check(os.preadv(fd, [data], first), nbytes)
        nodes = np.lib.stride_tricks.sliding_window_view(data, group.length)
        found[rows] = nodes[offsets[start:stop] - first]
    return found


def _runs(offsets: npt.NDArray[np.int64], length: int) -> Iterator[tuple[int, int]]:
    """Where runs of near nodes begin and end, among nodes in the order of their offsets."""
    if not len(offsets):
        return
    is_far = (np.diff(offsets) > length + _GAP) | (np.diff(offsets // _RUN) > 0)
    bounds = np.flatnonzero(np.concatenate([[True], is_far, [True]])).tolist()
    yield from itertools.pairwise(bounds)


def _check(came: int, wanted: int) -> None:
    if came != wanted:
        raise ShortReadError(f"a file that is shorter than it was: {came} of {wanted} bytes came")
