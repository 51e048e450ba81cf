"""How many arrays are done, on a terminal."""

from __future__ import annotations

from ..formatting import format_count
from .status_line import StatusLine


class ArrayProgress(StatusLine):
    """Hears of each array: its path, how many are done, and how many there will be.

    Parameters
    ----------
    verb : str, optional
        What is done to them, such as ``"read"``; nothing when it is clear.
    """

    def __init__(self, verb: str = "") -> None:
        super().__init__()
        self._verb = f" {verb}" if verb else ""

    def __call__(self, path: str, done: int, total: int) -> None:
        """Hear of an array."""
        if self.is_due():
            self.show(f"{done:,} of {format_count(total, 'array')}{self._verb}: /{path}")
