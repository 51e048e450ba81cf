"""Ranges of bytes in files, and where a chunk's bytes are.

Pure: nothing here reads anything. In a file a range is an offset and a length; in code a part of a
value is ``start`` and ``stop``, half open.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileRange:
    """``length`` bytes of a file from ``offset`` on."""

    offset: int
    length: int

    @property
    def stop(self) -> int:
        """The first byte after the range."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class ChunkLocation:
    """Where the bytes of one chunk are.

    Attributes
    ----------
    url : str
        URL or local path of the file.
    offset : int
        First byte of the chunk; 0 for a whole file.
    length : int or None
        Number of bytes; None for everything to the end of the file.
    """

    url: str
    offset: int = 0
    length: int | None = None


def clip(length: int, start: int | None, stop: int | None) -> tuple[int, int]:
    """Clip a request for part of a value to the value's length, as slicing does.

    Parameters
    ----------
    length : int
        Bytes of the value.
    start, stop : int or None
        As in a slice; a negative start counts from the end.

    Returns
    -------
    tuple of int
        ``(start, stop)`` with ``0 <= start <= stop <= length``.
    """
    first, last, _ = slice(start, stop).indices(length)
    return first, max(first, last)
