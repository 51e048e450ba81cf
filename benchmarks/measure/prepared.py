"""What a contender hands over once everything is imported (needs the standard library alone)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Prepared:
    """A contender at the start.

    Attributes
    ----------
    run : callable
        What is timed.
    answer : callable
        What it found, as JSON, from the result of `run`; not timed.
    """

    run: Callable[[], Any]
    answer: Callable[[Any], Any]
