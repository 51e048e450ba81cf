"""One line on a terminal that is replaced while work goes on, and is gone afterwards."""

from __future__ import annotations

import sys
import time
from typing import Any, Final, Self

_PAUSE: Final = 0.1
"""Seconds between two lines that replace each other."""

_WIDTH: Final = 79


class StatusLine:
    """A line on standard error, when that is a terminal; nothing elsewhere.

    Parameters
    ----------
    stream : text file, optional
        Where it is in place of standard error.
    """

    def __init__(self, stream: Any = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = self._stream is not None and self._stream.isatty()
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.show("")

    def is_due(self) -> bool:
        """Whether the line is shown at all, and the one before has been there for a moment."""
        if not self._is_shown or time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + _PAUSE
        return True

    def show(self, line: str) -> None:
        """Replace the line."""
        if self._is_shown:
            self._stream.write(f"\r{line[:_WIDTH]:{_WIDTH}}\r{line[:_WIDTH]}")
            self._stream.flush()
