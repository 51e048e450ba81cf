"""Values of one TIFF series or level as tifffile decodes them, a region at a time.

A small series is read by ``asarray``, which is what everybody calls. Of a larger one only what a region
needs is: bytes in one piece are read where they are, pages one by one, and of a page that is large itself the
strips or tiles that the region meets (``page_segments``).
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..regions import Region, region_shape
from .page_segments import PageSegments

WHOLE_BYTES = 32 * 2**20
"""Bytes of a series, or a page, up to which it is decoded whole, and kept while its regions are read."""

Values = npt.NDArray[Any]


class SeriesValues:
    """Reads regions of one series.

    Parameters
    ----------
    series : tifffile.TiffPageSeries
        Of a file that stays open.
    whole_bytes : int, optional
        What is decoded whole.
    """

    def __init__(self, series: Any, *, whole_bytes: int = WHOLE_BYTES) -> None:
        self._series = series
        self._shape: tuple[int, ...] = tuple(map(int, series.shape))
        self._whole_bytes = whole_bytes
        self._page: tuple[int, Values] | None = None

    def read(self, region: Region) -> Values:
        """The values of a region; raises whatever tifffile raises."""
        if self._series.nbytes <= self._whole_bytes:
            return self._whole[region]
        if self._series.transform is None and self._series.dataoffset is not None:
            return self._from_bytes(region)
        if self._series.transform is None and self._are_pages_whole:
            return self._from_pages(region)
        return self._whole[region]  # tifffile has no other way

    @cached_property
    def _whole(self) -> Values:
        return np.asarray(self._series.asarray(maxworkers=1)).reshape(self._shape)

    def _from_bytes(self, region: Region) -> Values:
        """Uncompressed values in one piece, a run of neighbours at a time."""
        split = len(self._shape) - 1
        while split > 0 and region[split] == slice(0, self._shape[split]):
            split -= 1
        dtype = self._series.dtype.newbyteorder(self._series.parent.byteorder)
        values = np.empty(region_shape(region), dtype)
        row = math.prod(self._shape[split + 1 :])
        file = self._series.parent.filehandle
        for place in itertools.product(*(range(part.start, part.stop) for part in region[:split])):
            first = 0
            for at, extent in zip((*place, region[split].start), self._shape[: split + 1], strict=True):
                first = first * extent + at
            count = (region[split].stop - region[split].start) * row
            file.seek(self._series.dataoffset + first * row * dtype.itemsize)
            inside = tuple(at - part.start for at, part in zip(place, region[:split], strict=True))
            target = values[inside]
            target[...] = np.frombuffer(file.read(count * dtype.itemsize), dtype).reshape(target.shape)
        return values

    @cached_property
    def _segments(self) -> PageSegments:
        return PageSegments(self._series.keyframe)

    @property
    def _leading(self) -> tuple[int, ...]:
        """Extents of the axes along which the pages are counted."""
        return self._shape[: len(self._shape) - len(self._series.keyframe.shape)]

    @property
    def _are_pages_whole(self) -> bool:
        """Whether the series is its pages, stacked along its first axes."""
        leading, page = self._leading, tuple(self._series.keyframe.shape)
        return self._shape == (*leading, *page) and math.prod(leading) == len(self._series)

    def _from_pages(self, region: Region) -> Values:
        leading = self._leading
        outer, inner = region[: len(leading)], region[len(leading) :]
        values = np.zeros(region_shape(region), self._series.dtype)
        for place in itertools.product(*(range(part.start, part.stop) for part in outer)):
            number = 0
            for at, extent in zip(place, leading, strict=True):
                number = number * extent + at
            inside = tuple(at - part.start for at, part in zip(place, outer, strict=True))
            page = self._series[number]
            if page is not None:  # one that is missing is zeros
                values[inside] = self._page_values(number, page, inner)
        return values

    def _page_values(self, number: int, page: Any, inner: Region) -> Values:
        if page.nbytes > self._whole_bytes:
            return self._segments.read(page, inner)
        if self._page is None or self._page[0] != number:
            self._page = number, page.asarray(maxworkers=1)
        return self._page[1][inner]
