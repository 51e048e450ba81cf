"""Where the segments of many pages are: tifffile's pages → arrays of offsets and byte counts.

A series may have a hundred thousand pages; what is done here is done for all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from ..cannot_represent import CannotRepresentError

Numbers = npt.NDArray[np.uint64]

_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class Segments:
    """Segments of pages, in the order of both.

    Attributes
    ----------
    offsets, counts : numpy.ndarray
        uint64, shape (pages, segments of a page); both 0 for a segment that was never written.
    """

    offsets: Numbers
    counts: Numbers

    @property
    def written(self) -> npt.NDArray[np.bool_]:
        """Whether a segment is in the file; shape as `offsets`."""
        return (self.offsets > 0) & (self.counts > 0)

    def check_inside(self, size: int, pages: Sequence[int] | None = None) -> None:
        """Refuse segments that the file does not hold.

        Parameters
        ----------
        size : int
            Bytes of the file.
        pages : sequence of int, optional
            Numbers of these pages, for the message; counted from 0 by default.

        Raises
        ------
        CannotRepresentError
            Naming the first of them.
        """
        outside = self.written & (self.offsets + self.counts > size)
        if outside.any():
            page, segment = np.argwhere(outside)[0]
            start, count = int(self.offsets[page, segment]), int(self.counts[page, segment])
            number = page if pages is None else pages[page]
            raise CannotRepresentError(
                f"segment {segment} of page {number}, bytes {start:,} to {start + count:,}, lies past "
                f"the end of the file ({size:,} bytes): the file is truncated or damaged"
            )


def read_segments(pages: Sequence[Any], per_page: int) -> Segments:
    """Gather where the segments of pages are.

    Parameters
    ----------
    pages : sequence of TiffPage or TiffFrame
        All of them with the same layout.
    per_page : int
        Segments that each page should have.

    Returns
    -------
    Segments
        Those that a page does not list are not written.

    Raises
    ------
    CannotRepresentError
        When pages list fewer than half of them, or places that cannot be.
    """
    offsets = _table(list(map(attrgetter("dataoffsets"), pages)), per_page)
    counts = _table(list(map(attrgetter("databytecounts"), pages)), per_page)
    return Segments(offsets, counts)


def in_one_piece(segments: Segments, nbytes: Numbers) -> npt.NDArray[np.bool_]:
    """Which pages have their segments one right behind the other.

    Parameters
    ----------
    segments : Segments
        Segments of the pages.
    nbytes : numpy.ndarray
        Bytes that each segment of a page needs.

    Returns
    -------
    numpy.ndarray
        bool, one for each page.
    """
    following = segments.offsets[:, :-1] + nbytes[:-1]
    return np.asarray((segments.offsets[:, 1:] == following).all(axis=1))


def _table(rows: list[Sequence[int]], width: int) -> Numbers:
    lengths = set(map(len, rows))
    if min(lengths) * 2 < width or not min(lengths):
        raise CannotRepresentError(
            f"a page lists {min(lengths):,} strips or tiles; its size asks for {width:,}: the file is damaged"
        )
    if lengths != {width}:
        rows = [[*row[:width], *[0] * (width - len(row))] for row in rows]
    try:
        table = np.array(rows)
    except (OverflowError, ValueError, TypeError) as error:
        raise CannotRepresentError(f"a page has strips or tiles at no place in a file: {error}") from error
    if table.dtype.kind not in "iu" or int(table.min()) < 0:  # fractions would be cut off, and be 0
        raise CannotRepresentError(
            f"a page has strips or tiles at no place in a file, or of no length: {str(rows[0][0])[:40]}"
        )
    table = table.astype(np.uint64, copy=False)
    if int(table.max()) > _LARGEST:
        raise CannotRepresentError(
            f"a page has a strip or tile at byte {int(table.max()):,}: the file is damaged"
        )
    return table
