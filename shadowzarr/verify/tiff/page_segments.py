"""A region of a TIFF page that is too large to be decoded whole: from the strips or tiles that it meets.

Where each of them is, and what its bytes mean, is what tifffile's decoding says; here they are put together.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..regions import Region, region_shape

_JPEG = frozenset({6, 7, 34892, 33007})
"""Compressions whose segments need the page's tables."""


class PageSegments:
    """Strips or tiles of all pages that are alike.

    Along the five axes that tifffile gives every page: separate samples, depth, rows, columns, samples.

    Parameters
    ----------
    frame : tifffile.TiffPage
        The page that says how all of them are stored.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        shaped = np.array(frame.shaped)
        places = [frame.decode(None, n, **_options(frame))[1:] for n in range(math.prod(frame.chunked))]
        self._starts = np.array([start for start, _ in places])
        extents = np.array([(1, *extent) for _, extent in places])
        self._stops = np.minimum(self._starts + extents, shaped)

    def read(self, page: Any, region: Region) -> npt.NDArray[Any]:
        """A region of one of the pages; raises whatever tifffile raises.

        Parameters
        ----------
        page : tifffile.TiffPage or tifffile.TiffFrame
            The page.
        region : tuple of slice
            Along the axes of its shape.
        """
        wanted = along_all_axes(region, self._frame.shape, self._frame.shaped)
        starts, stops = (np.array([getattr(part, end) for part in wanted]) for end in ("start", "stop"))
        values = np.empty(region_shape(wanted), self._frame.dtype)
        meet = (self._starts < stops).all(axis=1) & (self._stops > starts).all(axis=1)
        for number in map(int, np.flatnonzero(meet)):
            first = np.maximum(self._starts[number], starts)
            last = np.minimum(self._stops[number], stops)
            decoded = self._decoded(page, number)
            if decoded is not None:  # a segment has no axis of separate samples
                decoded = decoded[_between(first, last, self._starts[number])[1:]][np.newaxis]
            values[_between(first, last, starts)] = self._frame.nodata if decoded is None else decoded
        return values.reshape(region_shape(region))

    def _decoded(self, page: Any, number: int) -> npt.NDArray[Any] | None:
        """Values of a segment; None for one that is not stored."""
        offset, nbytes = page.dataoffsets[number], page.databytecounts[number]
        if not offset or not nbytes:
            return None
        file = page.parent.filehandle
        file.seek(offset)
        decoded: npt.NDArray[Any] = self._frame.decode(file.read(nbytes), number, **_options(page))[0]
        return decoded


def along_all_axes(region: Region, shape: tuple[int, ...], shaped: tuple[int, ...]) -> Region:
    """A region of a page along all five axes; those of length 1 may be missing in its shape.

    Parameters
    ----------
    region : tuple of slice
        Along the axes of ``shape``.
    shape, shaped : tuple of int
        Extents of the page, without axes of length 1 and with all of them.
    """
    rest = list(zip(shape, region, strict=True))
    return tuple(rest.pop(0)[1] if rest and rest[0][0] == extent else slice(0, extent) for extent in shaped)


def _options(page: Any) -> dict[str, Any]:
    options: dict[str, Any] = {"_fullsize": False}
    if page.keyframe.compression in _JPEG:
        options |= {"jpegtables": page.jpegtables, "jpegheader": page.keyframe.jpegheader}
    return options


def _between(first: Any, last: Any, origin: Any) -> Region:
    """A box, counted from an origin."""
    return tuple(
        slice(int(one), int(other)) for one, other in zip(first - origin, last - origin, strict=True)
    )
