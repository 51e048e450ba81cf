"""From numbers to places on a plot: linear and logarithmic scales and their ticks. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_NICE_STEPS = (1.0, 2.0, 5.0, 10.0)
_NICE_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


@dataclass(frozen=True)
class LogScale:
    """A logarithmic scale that covers whole decades.

    Attributes
    ----------
    low, high : int
        Exponents of ten at both ends; ``high > low``.
    start, stop : float
        Places of both ends on the plot.
    """

    low: int
    high: int
    start: float
    stop: float

    def place(self, value: float) -> float:
        """Return the place of a positive value; values beyond the ends stay at the ends."""
        exponent = min(max(math.log10(value), self.low), self.high)
        return self.start + (exponent - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self, *, at_most: int = 7) -> list[float]:
        """Return powers of ten, thinned out to at most so many."""
        step = math.ceil((self.high - self.low + 1) / at_most)
        return [10.0**exponent for exponent in range(self.low, self.high + 1, step)]


@dataclass(frozen=True)
class LinearScale:
    """A linear scale from zero.

    Attributes
    ----------
    length : float
        Value at the far end; positive.
    start, stop : float
        Places of zero and of the far end.
    """

    length: float
    start: float
    stop: float

    def place(self, value: float) -> float:
        """Return the place of a value."""
        return self.start + value / self.length * (self.stop - self.start)


def log_scale(values: Sequence[float], *, start: float, stop: float) -> LogScale:
    """Return the smallest scale of whole decades that holds all positive values."""
    exponents = [math.log10(value) for value in values if value > 0] or [0.0]
    low = math.floor(min(exponents))
    return LogScale(low, max(math.ceil(max(exponents)), low + 1), start, stop)


def second_ticks(length: float, *, at_most: int = 9) -> list[float]:
    """Return round times from zero to a length in seconds."""
    step = _second_step(max(length, 1e-3) / at_most)
    return [round(index * step, 9) for index in range(math.floor(length / step + 1e-9) + 1)]


def _second_step(wanted: float) -> float:
    """Return the smallest round number of seconds that is not below a wanted one."""
    if wanted < 1:
        decade = 10.0 ** math.floor(math.log10(wanted))
        return next(decade * nice for nice in _NICE_STEPS if decade * nice >= wanted * (1 - 1e-9))
    days = 86400.0 * math.ceil(wanted / 86400)
    return next((float(step) for step in _NICE_SECONDS if step >= wanted), days)
