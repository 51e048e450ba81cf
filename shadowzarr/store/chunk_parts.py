"""Which part of the coming chunks of a selection will be asked for. Pure.

`look_ahead` reads what is said here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Bytes = bytes | memoryview
Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a chunk, as a slice means them."""

    start: int | None = None
    stop: int | None = None

    def cut(self, data: Bytes, wanted: Part) -> Bytes | None:
        """Another part out of the bytes of this one; None when they do not hold it."""
        if self == wanted:
            return data
        if self == WHOLE:
            return data[wanted.start : wanted.stop]
        if None in (self.start, self.stop, wanted.start, wanted.stop):
            return None
        first, last = wanted.start - self.start, wanted.stop - self.start  # type: ignore[operator]
        return data[first:last] if 0 <= first <= last <= self.stop - self.start else None  # type: ignore[operator]

    def nbytes(self, length: int) -> int:
        """How many bytes it is of a chunk of some length."""
        return len(range(*slice(self.start, self.stop).indices(length)))


WHOLE = Part()


class Guess:
    """Which part of the coming chunks will be asked for, judged by those asked for so far. Pure.

    Parameters
    ----------
    box : Box
        Around the coordinates of all chunks of the selection.
    is_partial : bool
        Whether zarr may ask for parts of these chunks; otherwise it only ever asks for whole ones.
    small : int
        As for `LookAhead`.
    """

    def __init__(self, box: Box, *, is_partial: bool, small: int) -> None:
        self._box = box
        self._is_partial = is_partial
        self._is_small = True
        self._small = small
        self._inner: set[Part] = set()
        self._all: set[Part] = set()

    def learn(self, coordinates: Coordinates, part: Part, length: int) -> None:
        """Take note of a part that was asked for, of a chunk that takes some bytes in its file."""
        self._is_small &= length <= self._small
        self._all.add(part)
        if self._is_partial and not self._box.has_at_edge(coordinates):
            self._inner.add(part)

    @property
    def part(self) -> Part | None:
        """The part to read of the coming chunks; None when nothing follows from what was asked for."""
        if not self._is_partial:
            return WHOLE if self._all == {WHOLE} else None
        told_by = self._inner or (self._all if self._is_small else set())
        if len(told_by) == 1:
            return next(iter(told_by))
        return WHOLE if self._is_small and self._all else None

    def is_safe(self, coordinates: Coordinates) -> bool:
        """Whether a chunk will be asked for like the others, or costs little if it is not.

        At the edge of a selection less of a chunk may be wanted.
        """
        return not self._is_partial or self._is_small or not self._box.has_at_edge(coordinates)


@dataclass(frozen=True, slots=True)
class Box:
    """First and last coordinate along each axis on which they differ."""

    edges: tuple[tuple[int, int, int], ...]

    @classmethod
    def around(cls, coordinates: Iterable[Coordinates]) -> Box:
        """The box of some chunks."""
        axes = enumerate(zip(*coordinates, strict=True))
        extents = ((axis, min(numbers), max(numbers)) for axis, numbers in axes)
        return cls(tuple((axis, low, high) for axis, low, high in extents if low != high))

    def has_at_edge(self, coordinates: Coordinates) -> bool:
        """Whether a chunk lies at its edge."""
        return any(coordinates[axis] in (low, high) for axis, low, high in self.edges)
