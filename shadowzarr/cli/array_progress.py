"""How many arrays are done, on a terminal."""

from __future__ import annotations

import sys
import time

from ..formatting import format_count

_PAUSE = 0.1
"""Seconds between two lines that replace each other."""

_WIDTH = 79


class ArrayProgress:
    """Hears of each array: its path, how many are done, and how many there will be.

    Parameters
    ----------
    verb : str, optional
        What is done to them, such as ``"read"``; nothing when it is clear.
    """

    def __init__(self, verb: str = "") -> None:
        self._stream = sys.stderr
        self._is_shown = self._stream is not None and self._stream.isatty()
        self._verb = f" {verb}" if verb else ""
        self._next = 0.0

    def __call__(self, path: str, done: int, total: int) -> None:
        """Hear of an array."""
        if self._is_shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE
            self.show(f"{done:,} of {format_count(total, 'array')}{self._verb}: /{path}")

    def __enter__(self) -> ArrayProgress:
        return self

    def __exit__(self, *_: object) -> None:
        self.show("")

    def show(self, line: str) -> None:
        """Replace the line."""
        if self._is_shown:
            self._stream.write(f"\r{line[:_WIDTH]:{_WIDTH}}\r{line[:_WIDTH]}")
            self._stream.flush()
