"""How segments (strips or tiles) tile a page, pages a series, and slabs a page in one piece. Pure.

TIFF revision 6.0, sections 8 (RowsPerStrip, PlanarConfiguration) and 15 (tiles); ImageDepth and TileDepth
are SGI's. A page's segments are listed plane by plane when samples are stored apart, then by depth, rows and
columns, which is the C order of the page's axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...refs.slabs import slab_height


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Axes of one page, and how long a segment is along each.

    Attributes
    ----------
    axes : str
        ``S`` samples, ``Z`` depth, ``Y`` rows, ``X`` columns; only those that the page has.
    shape : tuple of int
        Extents of the page.
    edges : tuple of int
        Extents of a whole segment, which may be larger than the page.
    is_tiled : bool
        Whether segments are tiles, which are whole also where they hang over the page; strips end with it.
    """

    axes: str
    shape: tuple[int, ...]
    edges: tuple[int, ...]
    is_tiled: bool = False

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of segments along each axis."""
        return grid_of(self.shape, self.edges)

    def edge(self, axis: str) -> int:
        """Extent of a segment along an axis; 1 for one that the page does not have."""
        return self.edges[self.axes.index(axis)] if axis in self.axes else 1

    @property
    def is_whole(self) -> bool:
        """Whether a segment is the page, no more and no less."""
        return self.edges == self.shape

    @property
    def short_rows(self) -> int:
        """Rows of the last strip when it has fewer than the others; 0 otherwise."""
        if self.is_tiled:
            return 0
        y = self.axes.index("Y")
        return self.shape[y] % self.edges[y]

    def whole(self) -> PageLayout:
        """The same page as one segment."""
        return PageLayout(self.axes, self.shape, self.shape)

    def cut(self, rows: int) -> PageLayout:
        """The same page in slabs of so many rows."""
        y = self.axes.index("Y")
        return PageLayout(self.axes, self.shape, ((1,) * y + (rows,) + self.shape[y + 1 :]))


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the axes of a page are among those of a series.

    Attributes
    ----------
    lead : tuple of int
        Extents of the series' axes that count pages.
    chunk_shape : tuple of int
        Of the series, one segment to a chunk.
    places : tuple of (int or None)
        The series' axis of each axis of the page; None for one that it leaves away.
    """

    lead: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    places: tuple[int | None, ...]


def grid_of(shape: Sequence[int], edges: Sequence[int]) -> tuple[int, ...]:
    """Number of pieces along each axis, the last of which may hang over the end."""
    return tuple(-(-extent // edge) for extent, edge in zip(shape, edges, strict=True))


def place_page(shape: Sequence[int], page: PageLayout) -> Placement | None:
    """Find the axes of a page at the end of those of a series.

    Parameters
    ----------
    shape : sequence of int
        Of the series. It may lack axes of length 1 that the page has, and have others.
    page : PageLayout
        The page.

    Returns
    -------
    Placement or None
        None when the pages of the series are cut in another way than along its first axes.
    """
    places: list[int | None] = [None] * len(page.shape)
    chunk_shape = [1] * len(shape)
    axis = len(shape) - 1
    for number in range(len(page.shape) - 1, -1, -1):
        extent, edge = page.shape[number], page.edges[number]
        while axis >= 0 and shape[axis] == 1 != extent:
            axis -= 1
        if axis >= 0 and shape[axis] == extent:
            places[number] = axis
            chunk_shape[axis] = edge
            axis -= 1
        elif extent != 1 or edge != 1:
            return None
    return Placement(tuple(shape[: axis + 1]), tuple(chunk_shape), tuple(places))


def slab_rows(page: PageLayout, pages: int, itemsize: int, target: int) -> int | None:
    """Rows of the slabs that a page in one piece is cut into; None when it stays one chunk.

    Parameters
    ----------
    page : PageLayout
        The page.
    pages : int
        Pages of the series.
    itemsize : int
        Bytes of a sample.
    target : int
        Bytes above which a page is cut, and of a slab.
    """
    if math.prod(page.shape) * itemsize <= target:
        return None
    y = page.axes.index("Y")
    length = page.shape[y]
    rows = slab_height(length, math.prod(page.shape[y + 1 :]) * itemsize, target)
    is_one_plane = pages * math.prod(page.shape[:y]) == 1
    return rows if rows < length and (is_one_plane or length % rows == 0) else None


def spacing(offsets: npt.NDArray[np.uint64]) -> int | None:
    """Bytes from one to the next of places in a file, when it is always the same; None otherwise.

    Parameters
    ----------
    offsets : numpy.ndarray
        uint64, shape (n,), n at least 2, in the order of the chunks.
    """
    steps = np.diff(offsets.astype(np.int64))
    return int(steps[0]) if steps[0] > 0 and bool((steps == steps[0]).all()) else None


def pieces_nbytes(page: PageLayout, row_nbytes: int) -> npt.NDArray[np.uint64]:
    """Bytes that each segment of a page needs when nothing compresses it.

    Strips end with the page; tiles are whole also where they hang over its edge.

    Parameters
    ----------
    page : PageLayout
        The page.
    row_nbytes : int
        Bytes of one row of a segment, all samples that lie together included.

    Returns
    -------
    numpy.ndarray
        uint64, one number for each segment in the order of the file.
    """
    nbytes = np.full(page.grid, page.edge("Z") * page.edge("Y") * row_nbytes, np.uint64)
    if page.short_rows:
        last = (slice(None),) * page.axes.index("Y") + (-1,)
        nbytes[last] = page.short_rows * row_nbytes
    return nbytes.reshape(-1)
