"""Ranges of one file in memory, found by binary search; none overlaps another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ..refs.byte_range import FileRange
from .source_identity import Buffer


class KeptRanges:
    """What was read of a file.

    Parameters
    ----------
    max_bytes : int
        Bytes kept at most: beyond them the oldest round goes, but never the last one.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rounds: list[list[int]] = []  # offsets that each round added
        self._data: dict[int, memoryview] = {}
        self._offsets: list[int] = []
        self.nbytes = 0
        """Bytes that are kept."""

    def at(self, place: int) -> memoryview | None:
        """The kept bytes from `place` to the end of the range that holds it, or None."""
        i = bisect_right(self._offsets, place) - 1
        if i < 0:
            return None
        offset = self._offsets[i]
        data = self._data[offset]
        return data[place - offset :] if place - offset < len(data) else None

    def start_of(self, place: int) -> int | None:
        """Where the kept range begins that holds a place; None when none does."""
        i = bisect_right(self._offsets, place) - 1
        if i < 0 or place - self._offsets[i] >= len(self._data[self._offsets[i]]):
            return None
        return self._offsets[i]

    def add(self, ranges: Sequence[FileRange], buffers: Sequence[Buffer]) -> None:
        """Keep the buffers of one round, whose ranges do not overlap; what is kept already stays."""
        added: list[int] = []
        for wanted, data in zip(ranges, buffers, strict=True):
            view = memoryview(data)
            for gap in self._gaps(wanted):
                # A part is copied: a view would keep all of it alive.
                part = view[gap.offset - wanted.offset : gap.stop - wanted.offset]
                self._data[gap.offset] = part if gap == wanted else memoryview(bytes(part))
                self.nbytes += gap.length
                added.append(gap.offset)
        self._rounds.append(added)
        while self.nbytes > self._max_bytes and len(self._rounds) > 1:
            for offset in self._rounds.pop(0):
                self.nbytes -= len(self._data.pop(offset))
        self._offsets = sorted(self._data)

    def clear(self) -> None:
        """Forget everything."""
        self._rounds, self._data, self._offsets, self.nbytes = [], {}, [], 0

    def _gaps(self, wanted: FileRange) -> list[FileRange]:
        """The parts of a range that are not kept."""
        found, place = [], wanted.offset
        while place < wanted.stop:
            kept = self.at(place)
            if kept is not None:
                place += len(kept)
                continue
            i = bisect_right(self._offsets, place)
            stop = min(wanted.stop, self._offsets[i]) if i < len(self._offsets) else wanted.stop
            found.append(FileRange(place, stop - place))
            place = stop
        return found
