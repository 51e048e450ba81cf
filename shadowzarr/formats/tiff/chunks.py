"""Where the chunks of a level are, and how that is said to the builder in the fewest words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...builder import RfsBuilder
from .page_layout import spacing
from .segments import Numbers


@dataclass(frozen=True, slots=True)
class Spaced:
    """Pages that follow each other evenly in one file, each in one chunk or in slabs that touch.

    Attributes
    ----------
    url : str
        The file.
    start, stride : int
        Offset of the first page, and bytes from one page to the next.
    pages : int
        Number of pages.
    length : int
        Bytes of a chunk.
    slabs : int
        Chunks of a page.
    """

    url: str
    start: int
    stride: int
    pages: int
    length: int
    slabs: int = 1

    @property
    def count(self) -> int:
        """Number of chunks."""
        return self.pages * self.slabs

    @property
    def nbytes(self) -> int:
        """Bytes of all chunks."""
        return self.count * self.length

    def cut(self, nbytes: int, slabs: int) -> Spaced:
        """The same with each page in so many slabs of so many bytes; the last may reach past the page."""
        return replace(self, length=nbytes, slabs=slabs)

    def strides(self, grid: tuple[int, ...]) -> tuple[int, ...]:
        """Bytes from one chunk to the next along each axis of a chunk grid, whose C order they have."""
        steps = [math.prod(grid[axis + 1 :]) for axis in range(len(grid))]
        return tuple(
            self.length * step if step < self.slabs else self.stride * (step // self.slabs) for step in steps
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """Chunks one by one, in C order of the chunk grid.

    Attributes
    ----------
    urls : tuple of str
        The files.
    offsets, lengths : numpy.ndarray
        uint64; both 0 for a chunk that was never written.
    file : numpy.ndarray or None
        Number of the file of each chunk; None when there is one file.
    """

    urls: tuple[str, ...]
    offsets: Numbers
    lengths: Numbers
    file: npt.NDArray[np.intp] | None = None

    @property
    def count(self) -> int:
        """Number of chunks that were written."""
        return int(np.count_nonzero(self.lengths))

    @property
    def nbytes(self) -> int:
        """Bytes of all chunks."""
        return int(self.lengths.sum())

    @property
    def pages(self) -> int:
        """Number of chunks, those that were never written included."""
        return len(self.offsets)

    def cut(self, nbytes: int, slabs: int) -> Listed:
        """The same with each chunk in so many slabs of so many bytes, one right behind the other."""
        written = np.repeat(self.lengths > 0, slabs)
        steps = np.arange(slabs, dtype=np.uint64) * np.uint64(nbytes)
        return Listed(
            self.urls,
            np.where(written, (self.offsets[:, None] + steps).reshape(-1), 0).astype(np.uint64),
            np.where(written, nbytes, 0).astype(np.uint64),
            None if self.file is None else np.repeat(self.file, slabs),
        )

    def simplified(self) -> Spaced | Listed:
        """The same as a rule, when they are all there, of one length and evenly spaced."""
        if self.file is not None or self.count < self.pages or not self.pages:
            return self
        stride = spacing(self.offsets) if self.pages > 1 else int(self.lengths[0])
        if stride is None or not bool((self.lengths == self.lengths[0]).all()):
            return self
        return Spaced(self.urls[0], int(self.offsets[0]), stride, self.pages, int(self.lengths[0]))


@dataclass(frozen=True, slots=True)
class Held:
    """Chunks that the document holds itself.

    Attributes
    ----------
    data : dict of tuple of int to bytes
        By chunk coordinates.
    """

    data: dict[tuple[int, ...], bytes] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of chunks."""
        return len(self.data)

    @property
    def nbytes(self) -> int:
        """Bytes of the source that are pointed to: none."""
        return 0


Chunks = Spaced | Listed | Held


def add_chunks(
    builder: RfsBuilder, path: str, chunks: Chunks, grid: tuple[int, ...], *, threshold: int | None
) -> None:
    """Say where the chunks of an array that was added are.

    Parameters
    ----------
    builder : RfsBuilder
        What is told.
    path : str
        Path of the array.
    chunks : Spaced, Listed or Held
        The chunks.
    grid : tuple of int
        Chunks of the array along each axis.
    threshold : int or None
        Written chunks above which an array has a chunk index; None for never.
    """
    match chunks:
        case Held():
            for place, data in chunks.data.items():
                builder.add_inline_chunk(path, place, data)
        case Spaced() if chunks.count == 1:
            builder.add_chunk(path, (0,) * len(grid), chunks.url, chunks.start, chunks.length)
        case Spaced():
            builder.add_spaced_chunks(
                path,
                url=chunks.url,
                start=chunks.start,
                length=chunks.length,
                counts=grid,
                strides=chunks.strides(grid),
            )
        case Listed():
            _add_listed(builder, path, chunks, grid, threshold)


def _add_listed(
    builder: RfsBuilder, path: str, chunks: Listed, grid: tuple[int, ...], threshold: int | None
) -> None:
    for number, url in enumerate(chunks.urls):
        own = chunks.lengths > 0
        if chunks.file is not None:
            own &= chunks.file == number
        places = np.flatnonzero(own)
        builder.add_chunks(
            path,
            url=url,
            coordinates=np.stack(np.unravel_index(places, grid), axis=-1),
            offsets=chunks.offsets[places],
            nbytes=chunks.lengths[places],
            chunk_index_threshold=threshold,
        )
