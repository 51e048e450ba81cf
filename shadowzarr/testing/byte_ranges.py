"""The ``Range`` header: what was asked for, and what that is of an object of a given size (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..refs.byte_range import FileRange

_ONE_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class AskedRange:
    """One range as a client writes it; both ends included.

    Attributes
    ----------
    first : int or None
        None for the last ``last`` bytes of the object.
    last : int or None
        None for everything from ``first`` on.
    """

    first: int | None
    last: int | None


def parse_range(header: str | None) -> AskedRange | None:
    """Read a ``Range`` header.

    Returns
    -------
    AskedRange or None
        None when there is none, when it names several ranges or when it makes no sense: all of
        these are answered with the whole object, as S3 does.
    """
    found = _ONE_RANGE.fullmatch(header.strip()) if header else None
    if found is None or found.group(1) == found.group(2) == "":
        return None
    first, last = (int(text) if text else None for text in found.groups())
    if first is not None and last is not None and last < first:
        return None
    return AskedRange(first, last)


def resolve_range(asked: AskedRange, size: int) -> FileRange | None:
    """Apply a range to an object; an end past the object is cut.

    Returns
    -------
    FileRange or None
        None when the range holds no byte of the object (status 416).
    """
    if asked.first is None:
        length = min(asked.last or 0, size)
        return FileRange(size - length, length) if length else None
    if asked.first >= size:
        return None
    stop = size if asked.last is None else min(asked.last + 1, size)
    return FileRange(asked.first, stop - asked.first)
