"""What a layout tells the builder: where its chunks are, in as few words as it can. No rules, no builder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .axes import Axis, Numbers, Steps


@dataclass(frozen=True, slots=True)
class Spaced:
    """Chunks of one length whose places are sums of a place along each axis.

    Attributes
    ----------
    url : str
        Their file.
    start, nbytes : int
        Offset of the first chunk, and bytes of each.
    first : tuple of int
        Coordinates of the first chunk.
    axes : tuple of Axis
        Places along each axis of the chunk grid.
    """

    url: str
    start: int
    nbytes: int
    first: tuple[int, ...]
    axes: tuple[Axis, ...]

    def inserted(self, axis: int, coordinate: int) -> Spaced:
        """The same chunks with one more coordinate."""
        first = (*self.first[:axis], coordinate, *self.first[axis:])
        return replace(self, first=first, axes=(*self.axes[:axis], Steps(1, 0), *self.axes[axis:]))

    def moved(self, axis: int, by: int) -> Spaced:
        """The same chunks further along an axis."""
        first = (*self.first[:axis], self.first[axis] + by, *self.first[axis + 1 :])
        return replace(self, first=first)


@dataclass(frozen=True, slots=True)
class Listed:
    """Chunks one by one.

    Attributes
    ----------
    coordinates : numpy.ndarray
        int64 of shape (chunks, axes).
    urls : tuple of str
        The files.
    files : numpy.ndarray
        int64 of shape (chunks,): which of them each chunk is in.
    offsets, nbytes : numpy.ndarray
        int64 of shape (chunks,): where each begins, and its bytes; -1 for a whole file.
    has_priority : bool
        Whether these must be listed by name, for they win over what an index or a rule says.
    """

    coordinates: Numbers
    urls: tuple[str, ...]
    files: Numbers
    offsets: Numbers
    nbytes: Numbers
    has_priority: bool = False

    def inserted(self, axis: int, coordinate: int) -> Listed:
        """The same chunks with one more coordinate."""
        return replace(self, coordinates=np.insert(self.coordinates, axis, coordinate, axis=1))

    def moved(self, axis: int, by: int) -> Listed:
        """The same chunks further along an axis."""
        coordinates = self.coordinates.copy()
        coordinates[:, axis] += by
        return replace(self, coordinates=coordinates)


@dataclass(frozen=True, slots=True)
class Held:
    """Chunks that the document holds.

    Attributes
    ----------
    chunks : dict
        Bytes by coordinates.
    """

    chunks: dict[tuple[int, ...], bytes] = field(default_factory=dict)

    def inserted(self, axis: int, coordinate: int) -> Held:
        """The same chunks with one more coordinate."""
        return Held({(*at[:axis], coordinate, *at[axis:]): data for at, data in self.chunks.items()})

    def moved(self, axis: int, by: int) -> Held:
        """The same chunks further along an axis."""
        return Held({(*at[:axis], at[axis] + by, *at[axis + 1 :]): data for at, data in self.chunks.items()})


Piece = Spaced | Listed | Held


def listed(piece: Spaced) -> Listed:
    """Spaced chunks one by one."""
    counts = tuple(axis.count for axis in piece.axes)
    grid = np.indices(counts, np.int64).reshape(len(counts), math.prod(counts)).T
    places = sum((axis.places()[grid[:, n]] for n, axis in enumerate(piece.axes)), np.int64(piece.start))
    chunks = len(grid)
    return Listed(
        grid + np.array(piece.first, np.int64),
        (piece.url,),
        np.zeros(chunks, np.int64),
        np.broadcast_to(places, (chunks,)),
        np.full(chunks, piece.nbytes, np.int64),
    )


def stacked(pieces: Sequence[Spaced], axis: int) -> Spaced | None:
    """Alike pieces of one file, evenly spaced, as one with one more axis; None when they are not so."""
    first = pieces[0]
    step = pieces[1].start - first.start if len(pieces) > 1 else 0
    for number, piece in enumerate(pieces):
        if replace(piece, start=first.start) != first or piece.start != first.start + number * step:
            return None
    joined = first.inserted(axis, 0)
    return replace(joined, axes=(*first.axes[:axis], Steps(len(pieces), step), *first.axes[axis:]))
