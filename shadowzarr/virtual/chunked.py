"""Arrays of whole chunks, wherever these lie and however they are encoded: taken by whole chunks only.

Nothing here grows with the number of chunks until `Chunked.pieces` is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..errors import NeedsDataError
from .axes import Axis, Numbers, Picks, compose, pick
from .chunk_bytes import ChunkForm
from .pieces import Held, Listed, Piece, Spaced
from .strided import other_chunks


class Source(Protocol):
    """Where the chunks of a grid are."""

    def pieces(self, picks: Sequence[Picks]) -> Iterator[Piece]:
        """The chunks at some coordinates along each axis, at their numbers among those."""
        ...


@dataclass(frozen=True, slots=True)
class EvenChunks:
    """Chunks at even distances in one file.

    Attributes
    ----------
    url : str
        The file.
    start, nbytes : int
        Offset of the first chunk, and bytes of each.
    axes : tuple of Axis
        Places of the chunks along each axis of their grid.
    """

    url: str
    start: int
    nbytes: int
    axes: tuple[Axis, ...]

    def pieces(self, picks: Sequence[Picks]) -> Iterator[Piece]:
        """The chunks at some coordinates along each axis."""
        picked = [pick(axis, wanted) for axis, wanted in zip(self.axes, picks, strict=True)]
        start = self.start + sum(shift for shift, _ in picked)
        yield Spaced(self.url, start, self.nbytes, (0,) * len(picked), tuple(axis for _, axis in picked))


@dataclass(frozen=True, eq=False)
class ChunkTable:
    """Chunks that were given one by one.

    Attributes
    ----------
    coordinates : numpy.ndarray
        int64 of shape (chunks, axes), each row once.
    urls, files, offsets, nbytes
        As for `Listed`.
    """

    coordinates: Numbers
    urls: tuple[str, ...]
    files: Numbers
    offsets: Numbers
    nbytes: Numbers

    def pieces(self, picks: Sequence[Picks]) -> Iterator[Piece]:
        """The chunks at some coordinates along each axis."""
        rows, coordinates = rows_at(self.coordinates, picks)
        yield Listed(coordinates, self.urls, self.files[rows], self.offsets[rows], self.nbytes[rows])


def rows_at(coordinates: Numbers, picks: Sequence[Picks]) -> tuple[Numbers, Numbers]:
    """Rows of a table of coordinates that are picked, and the numbers at which they are picked.

    A row is there as often as its coordinates are picked.
    """
    rows = np.arange(len(coordinates), dtype=np.int64)
    columns: list[Numbers] = []
    for axis, wanted in enumerate(picks):
        values = coordinates[rows, axis]
        kept, numbers = _numbers_of(values, wanted)
        rows = rows[kept]
        columns = [*(column[kept] for column in columns), numbers]
    found = np.stack(columns, axis=1) if columns else np.zeros((len(rows), 0), np.int64)
    return rows, found


def _numbers_of(values: Numbers, wanted: Picks) -> tuple[Numbers, Numbers]:
    """Which values are wanted, by their row, and at which number each is."""
    if isinstance(wanted, range):
        if not len(wanted):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        numbers, rest = np.divmod(values - wanted.start, wanted.step)
        kept = np.flatnonzero((rest == 0) & (numbers >= 0) & (numbers < len(wanted)))
        return kept, numbers[kept]
    order = np.argsort(wanted, kind="stable")
    first, last = (np.searchsorted(wanted[order], values, side=side) for side in ("left", "right"))
    counts = last - first
    kept = np.repeat(np.arange(len(values)), counts)
    within = np.arange(len(kept)) - np.repeat(np.cumsum(counts) - counts, counts)
    return kept, order[np.repeat(first, counts) + within]


@dataclass(frozen=True, eq=False)
class Chunked:
    """An array of whole chunks.

    Attributes
    ----------
    shape, chunk_shape : tuple of int
        Elements along each axis, and of a chunk.
    source : Source
        Where chunks are.
    picks : tuple of (range or array)
        What is taken along each axis of the source's grid.
    axes : tuple of int
        Which axis of the source's grid each axis is; the others are gone.
    form : ChunkForm
        How the bytes of a reference become a chunk.
    itemsize : int
        Bytes of an element; 0 when they differ.
    """

    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    source: Source
    picks: tuple[Picks, ...]
    axes: tuple[int, ...]
    form: ChunkForm
    itemsize: int = 0

    def pick(self, axis: int, wanted: Picks, shown: int) -> Chunked:
        """Some of an axis, in whole chunks; ``shown`` is what messages call it."""
        edge, extent = self.chunk_shape[axis], self.shape[axis]
        if edge == 1:
            chunks = wanted
        else:
            _check_whole(wanted, edge, extent, shown)
            chunks = range(wanted[0] // edge, -(-(wanted[-1] + 1) // edge)) if len(wanted) else range(0)
        number = self.axes[axis]
        picks = (*self.picks[:number], compose(self.picks[number], chunks), *self.picks[number + 1 :])
        shape = (*self.shape[:axis], len(wanted), *self.shape[axis + 1 :])
        return replace(self, shape=shape, picks=picks)

    def drop(self, axis: int, number: int, shown: int) -> Chunked:
        """What is at one number of an axis with one element per chunk; the axis is gone then."""
        edge = self.chunk_shape[axis]
        if edge != 1:
            raise NeedsDataError(
                f"axis {shown} has chunks of {edge} elements: an integer takes one out of a chunk, which "
                "needs its "
                "data. It works along axes with one element per chunk; here a slice from a multiple of "
                f"{edge} does"
            )
        if self.form.sees_shape:
            raise NeedsDataError(
                f"axis {shown} cannot be dropped: the codec {self.form.codecs[0]['name']!r} sees the shape "
                "of a "
                f"chunk. The slice {number}:{number + 1} keeps the axis"
            )
        taken = self.pick(axis, range(number, number + 1), shown)
        left = [n for n in range(len(self.shape)) if n != axis]
        return replace(
            taken,
            shape=tuple(self.shape[n] for n in left),
            chunk_shape=tuple(self.chunk_shape[n] for n in left),
            axes=tuple(self.axes[n] for n in left),
            form=self.form.renumbered({old: new for new, old in enumerate(left)}),
        )

    def permute(self, order: Sequence[int]) -> Chunked:
        """The axes in another order: axis ``n`` is the old axis ``order[n]``."""
        return replace(
            self,
            shape=tuple(self.shape[axis] for axis in order),
            chunk_shape=tuple(self.chunk_shape[axis] for axis in order),
            axes=tuple(self.axes[axis] for axis in order),
            form=turned(self.form, order, self.chunk_shape),
        )

    @property
    def is_free(self) -> bool:
        """Whether it can be cut into other chunks: never."""
        return False

    def cut(self, edges: tuple[int, ...]) -> Chunked:
        """The array, when it has chunks of this shape."""
        if edges != self.chunk_shape:
            raise other_chunks(self.chunk_shape, edges)
        return self

    def pieces(self) -> Iterator[Piece]:
        """Where the chunks are."""
        if 0 in self.shape:
            return
        for piece in self.source.pieces(self.picks):
            yield _renumbered(piece, self.axes)


def turned(form: ChunkForm, order: Sequence[int], chunk_shape: Sequence[int]) -> ChunkForm:
    """The form when the axes of the array are in another order.

    Raises
    ------
    NeedsDataError
        When the bytes of a chunk are selected and would have to be turned as well.
    """
    found = form.renumbered({old: new for new, old in enumerate(order)})
    if found.is_turned and form.keep:
        raise NeedsDataError(
            f"a chunk of shape {tuple(chunk_shape)} is selected from records, and these axes cannot be "
            "brought into "
            f"the order {tuple(order)}: a selection applies to bytes in their own order. Axes along which a "
            "chunk "
            "has one element can be moved"
        )
    return found


def _check_whole(wanted: Picks, edge: int, extent: int, shown: int) -> None:
    """Refuse what is not a run of whole chunks."""
    is_slice = isinstance(wanted, range) and (wanted.step == 1 or len(wanted) == 1)
    if not len(wanted) or (is_slice and wanted[0] % edge == 0):
        return
    rule = f"axis {shown} has chunks of {edge} elements and is taken by whole chunks"
    if not is_slice:
        raise NeedsDataError(
            f"{rule}: a list or a step takes elements out of chunks, which needs their data. Lists and steps "
            "work "
            "along axes with one element per chunk; here slices that begin at a multiple of "
            f"{edge} do"
        )
    begin = int(wanted[0]) // edge * edge
    raise NeedsDataError(
        f"{rule}: the slice {wanted[0]}:{wanted[-1] + 1} begins inside one, which needs its data. "
        f"It may begin at {begin}" + (f" or {begin + edge}" if begin + edge < extent else "")
    )


def _renumbered(piece: Piece, axes: Sequence[int]) -> Piece:
    """A piece with the coordinates of some of its axes, in their order; along the others it has one chunk."""
    if isinstance(piece, Spaced):
        first = tuple(piece.first[axis] for axis in axes)
        return replace(piece, first=first, axes=tuple(piece.axes[axis] for axis in axes))
    if isinstance(piece, Listed):
        return replace(piece, coordinates=piece.coordinates[:, list(axes)])
    return Held({tuple(at[axis] for axis in axes): data for at, data in piece.chunks.items()})


def full_picks(grid: Sequence[int]) -> tuple[Picks, ...]:
    """All chunks of a grid."""
    return tuple(range(count) for count in grid)


def table_of(chunks: Mapping[tuple[int, ...], tuple[str, int, int]], rank: int) -> ChunkTable:
    """A table of places by coordinates; -1 bytes are a whole file."""
    urls = {url: number for number, url in enumerate(dict.fromkeys(url for url, _, _ in chunks.values()))}
    return ChunkTable(
        np.array(list(chunks), np.int64).reshape(len(chunks), rank),
        tuple(urls),
        np.array([urls[url] for url, _, _ in chunks.values()], np.int64),
        np.array([offset for _, offset, _ in chunks.values()], np.int64),
        np.array([nbytes for _, _, nbytes in chunks.values()], np.int64),
    )
