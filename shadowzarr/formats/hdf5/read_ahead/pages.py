"""Whole pages of a file whose space is kept in pages, which keeps metadata together ("File Space Info")."""

from __future__ import annotations

from collections.abc import Sequence

from ....refs.byte_range import FileRange

MAX_PAGE = 2**20
"""Bytes of a page that is read whole; of larger ones the nodes alone."""

_SPARE = 2**20
_TIMES = 4


def in_pages(ranges: Sequence[FileRange], page: int, base: int) -> list[FileRange]:
    """The pages that ranges lie in, or the ranges when that is not worth it.

    Parameters
    ----------
    ranges : sequence of FileRange
        What is wanted.
    page : int
        Bytes of a page; 0 for a file without.
    base : int
        Where the first one begins.
    """
    if not 512 <= page <= MAX_PAGE:
        return list(ranges)
    numbers = {
        number
        for each in ranges
        for number in range((each.offset - base) // page, (each.stop - 1 - base) // page + 1)
    }
    if len(numbers) * page > _SPARE + _TIMES * sum(each.length for each in ranges):
        return list(ranges)
    return [FileRange(max(0, base + number * page), page) for number in sorted(numbers)]
