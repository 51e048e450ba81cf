"""One axis of something that lies in a file: how many there are, and where each begins. Pure.

Places are bytes from the place of the first. Nothing here grows with the length of an axis, but for lists
that were given as lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

Picks = range | Numbers
"""Which of an axis are taken, in their order: evenly spaced, or a list."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Evenly spaced places.

    Attributes
    ----------
    count : int
        How many.
    step : int
        Bytes from one to the next, which may be negative.
    """

    count: int
    step: int

    @property
    def gap(self) -> float:
        """Bytes between neighbours in the file, on average."""
        return abs(self.step)

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest place and the highest."""
        last = (self.count - 1) * self.step if self.count else 0
        return min(0, last), max(0, last)

    def at(self, number: int) -> int:
        """The place of one."""
        return number * self.step

    def places(self) -> Numbers:
        """All places."""
        return np.arange(self.count, dtype=np.int64) * self.step


@dataclass(frozen=True, slots=True)
class Places:
    """Places as they were listed.

    Attributes
    ----------
    listed : tuple of int
        Bytes from the place of the first.
    """

    listed: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many."""
        return len(self.listed)

    @property
    def gap(self) -> float:
        """Bytes between neighbours in the file, on average."""
        low, high = self.bounds
        return (high - low) / (self.count - 1)

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest place and the highest."""
        return min(self.listed), max(self.listed)

    def at(self, number: int) -> int:
        """The place of one."""
        return self.listed[number]

    def places(self) -> Numbers:
        """All places."""
        return np.array(self.listed, np.int64)


Axis = Steps | Places


def evenly(places: Sequence[int]) -> tuple[int, Axis]:
    """Listed places as an axis, and the place of the first: evenly spaced ones are steps."""
    if not len(places):
        return 0, Steps(0, 0)
    first = int(places[0])
    step = int(places[1]) - first if len(places) > 1 else 0
    if all(place == first + number * step for number, place in enumerate(places)):
        return first, Steps(len(places), step)
    return first, Places(tuple(int(place) - first for place in places))


def pick(axis: Axis, wanted: Picks) -> tuple[int, Axis]:
    """Some of an axis, and how many bytes the first of them lies after the first of the axis."""
    if not len(wanted):
        return 0, Steps(0, axis.step if isinstance(axis, Steps) else 0)
    if isinstance(axis, Places):
        chosen = (
            axis.listed[wanted.start : _stop(wanted) : wanted.step] if isinstance(wanted, range) else None
        )
        return evenly(chosen if chosen is not None else axis.places()[wanted].tolist())
    if isinstance(wanted, range):
        return axis.at(wanted.start), Steps(len(wanted), axis.step * (wanted.step if len(wanted) > 1 else 1))
    return evenly((wanted * axis.step).tolist())


def numbers_between(values: range, low: int, high: int) -> range:
    """Numbers of the values that are at least ``low`` and below ``high``, worked out."""
    step = values.step
    near, far = (low, high - 1) if step > 0 else (high - 1, low)
    begin = max(0, -((values.start - near) // step))
    return range(begin, max(begin, min(len(values), (far - values.start) // step + 1)))


def compose(first: Picks, then: Picks) -> Picks:
    """What is taken when some of what was taken is taken."""
    if isinstance(first, range) and isinstance(then, range):
        return first[then.start : _stop(then) : then.step] if len(then) else range(0)
    chosen = np.asarray(first, np.int64)[np.asarray(then, np.int64)]
    return as_range(chosen)


def as_range(numbers: Numbers) -> Picks:
    """A list of numbers, as a range when it is evenly spaced without repeating."""
    if len(numbers) == 0:
        return range(0)
    first, last = int(numbers[0]), int(numbers[-1])
    if len(numbers) == 1:
        return range(first, first + 1)
    step = int(numbers[1]) - first
    if step and last == first + (len(numbers) - 1) * step and bool((np.diff(numbers) == step).all()):
        return range(first, last + (1 if step > 0 else -1), step)
    return numbers


def _stop(numbers: range) -> int | None:
    """Where a slice ends that takes what a range has, which never begins below 0."""
    return numbers.stop if numbers.stop >= 0 else None
