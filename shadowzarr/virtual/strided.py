"""Elements that lie in a file at even distances, or as listed: contiguous arrays, records, memory maps.

Any part of such an array is one again, so it can be cut anywhere; how it is cut into chunks is worked out
anew for each part. Nothing here grows with the number of elements or chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from ..errors import NeedsDataError
from ..refs.slabs import CONTIGUOUS_CHUNK_BYTES, largest_divisor, slab_height
from .axes import Axis, Picks, Steps, pick
from .chunk_bytes import (
    MOST_RANGES,
    ChunkBytes,
    ChunkForm,
    Codecs,
    UnfitError,
    count_ranges,
    described,
    is_listed,
    span,
)
from .pieces import Piece, Spaced


@dataclass(frozen=True)
class Strided:
    """Elements of a file whose places are sums of a place along each axis.

    Attributes
    ----------
    url : str
        The file.
    start : int
        Offset of the first element.
    axes : tuple of Axis
        Places of the elements along each axis.
    itemsize : int
        Bytes of an element.
    codecs : tuple of dict
        The ``bytes`` codec.
    edges : tuple of int or None
        Chunk shape that was asked for; None for the usual one.
    """

    url: str
    start: int
    axes: tuple[Axis, ...]
    itemsize: int
    codecs: Codecs
    edges: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return tuple(axis.count for axis in self.axes)

    @cached_property
    def chunk_shape(self) -> tuple[int, ...]:
        """Elements of a chunk along each axis."""
        return usual_chunk_shape(self.axes, self.itemsize) if self.edges is None else self.edges

    @property
    def is_free(self) -> bool:
        """Whether no chunk shape was asked for."""
        return self.edges is None

    @property
    def form(self) -> ChunkForm:
        """How the bytes of a reference become a chunk.

        Raises
        ------
        NeedsDataError
            When no form gives these chunks.
        """
        found = self._chunk
        return ChunkForm(found.order, self.codecs, found.record_size, found.keep)

    def pick(self, axis: int, wanted: Picks, shown: int) -> Strided:
        """Some of an axis; ``shown`` is what messages call it."""
        old, edges = self.axes[axis], self.edges
        shift, picked = pick(old, wanted)
        if edges is not None:
            is_whole = edges[axis] >= min(old.count, picked.count)
            edge = max(1, picked.count) if is_whole else edges[axis]
            _check_edge(picked, edge, shown)
            edges = (*edges[:axis], edge, *edges[axis + 1 :])
        axes = (*self.axes[:axis], picked, *self.axes[axis + 1 :])
        return replace(self, start=self.start + shift, axes=axes, edges=edges)

    def drop(self, axis: int, number: int, shown: int) -> Strided:
        """What is at one number of an axis, which is gone then."""
        edges = None if self.edges is None else (*self.edges[:axis], *self.edges[axis + 1 :])
        return replace(
            self,
            start=self.start + self.axes[axis].at(number),
            axes=(*self.axes[:axis], *self.axes[axis + 1 :]),
            edges=edges,
        )

    def permute(self, order: Sequence[int]) -> Strided:
        """The axes in another order: axis ``n`` is the old axis ``order[n]``."""
        edges = None if self.edges is None else tuple(self.edges[axis] for axis in order)
        return replace(self, axes=tuple(self.axes[axis] for axis in order), edges=edges)

    def cut(self, edges: tuple[int, ...]) -> Strided:
        """The same elements in chunks of another shape; those that were asked for can only become larger.

        Raises
        ------
        NeedsDataError
            When other chunks were asked for.
        """
        for axis, own, edge in zip(self.axes, self.edges or edges, edges, strict=True):
            is_larger = min(own, edge) >= axis.count and not is_listed(axis)
            if own != edge and not is_larger:
                raise other_chunks(self.chunk_shape, edges)
        return replace(self, edges=edges)

    def pieces(self) -> Iterator[Piece]:
        """Where the chunks are."""
        if 0 in self.shape:
            return
        found, chunk = self._chunk, self.chunk_shape
        axes = tuple(_starts(axis, edge) for axis, edge in zip(self.axes, chunk, strict=True))
        yield Spaced(self.url, self.start + found.shift, found.nbytes, (0,) * len(axes), axes)

    @property
    def _chunk(self) -> ChunkBytes:
        if 0 in self.shape:
            return ChunkBytes(0, 0, ())
        chunk = self.chunk_shape
        for number, (axis, edge) in enumerate(zip(self.axes, chunk, strict=True)):
            _check_edge(axis, edge, number)
        inner = tuple(_within(axis, edge) for axis, edge in zip(self.axes, chunk, strict=True))
        try:
            return described(inner, _overhanging(self.axes, chunk), self.itemsize)
        except UnfitError as error:
            raise NeedsDataError(
                f"the elements of a chunk of shape {chunk} do not lie in the file so that a reference can "
                "say "
                f"which they are: {error}. Choose a part or another order of axes with longer runs of bytes, "
                "or "
                "another chunk_shape"
            ) from None


@lru_cache(maxsize=1024)  # the arrays that are joined are alike
def usual_chunk_shape(axes: tuple[Axis, ...], itemsize: int) -> tuple[int, ...]:
    """Chunk shape of an array for which none was asked: all of it, or slabs of about 4 MiB.

    As `generate_rfs` cuts contiguous datasets: along the first axis in the file that is longer than 1. A list
    of rows, or rows in reverse, are chunks of one row, and what a row holds is cut likewise.
    """
    edges = [max(1, axis.count) for axis in axes]
    for number in sorted(range(len(axes)), key=lambda n: -axes[n].gap if axes[n].count > 1 else 1.0):
        inner = [_within(axis, edge) for axis, edge in zip(axes, edges, strict=True)]
        low, high = span(inner, itemsize)
        if high - low <= CONTIGUOUS_CHUNK_BYTES and count_ranges(inner, itemsize) <= MOST_RANGES:
            break
        axis = axes[number]
        if axis.count > 1 and not is_listed(axis):
            edges[number] = slab_height(axis.count, int(axis.gap), CONTIGUOUS_CHUNK_BYTES)
            if axis.count % edges[number] and not _have_a_form(axes, edges, itemsize):
                edges[number] = largest_divisor(axis.count, edges[number])  # no slab reaches past the array
            break
        edges[number] = 1
    return tuple(edges)


def other_chunks(own: tuple[int, ...], edges: tuple[int, ...]) -> NeedsDataError:
    """What is said of an array that has other chunks than it should."""
    return NeedsDataError(
        f"an array with chunks of {own} is joined with one with chunks of {edges}: a Zarr array has one "
        "chunk shape. "
        "Arrays that lie in a file in one piece take any chunk_shape"
    )


def _check_edge(axis: Axis, edge: int, shown: int) -> None:
    """Refuse chunks of several elements of a list that is longer, and longer chunks than a list.

    What a chunk has past a list lies nowhere, and past an axis that runs backwards before its elements, where
    the file may not have begun.
    """
    if edge > axis.count and is_listed(axis):
        raise NeedsDataError(
            f"axis {shown} has {axis.count} elements in chunks of {edge}, as those it is joined with: "
            "a chunk of a list or a negative step cannot reach past its elements. It works when each array "
            f"has a multiple of {edge} elements, or chunks of 1 along the axis"
        )
    if 1 < edge < axis.count and is_listed(axis):
        raise NeedsDataError(
            f"axis {shown} is cut into chunks of {edge}: a list or a negative step along it would take "
            "chunks "
            "apart. It works with chunks of 1 along the axis, or of all of it; slices with a positive step "
            "always do"
        )


def _have_a_form(axes: Sequence[Axis], edges: Sequence[int], itemsize: int) -> bool:
    """Whether chunks of a shape can be described."""
    inner = tuple(_within(axis, edge) for axis, edge in zip(axes, edges, strict=True))
    try:
        described(inner, _overhanging(axes, edges), itemsize)
    except UnfitError:
        return False
    return True


def _overhanging(axes: Sequence[Axis], edges: Sequence[int]) -> frozenset[int]:
    """Axes along which the last chunk reaches past the array."""
    return frozenset(n for n, axis in enumerate(axes) if axis.count % edges[n])


def _within(axis: Axis, edge: int) -> Axis:
    """Places of the elements of one chunk."""
    if edge >= axis.count and not isinstance(axis, Steps):
        return axis
    return Steps(edge, axis.step if isinstance(axis, Steps) else 0)


def _starts(axis: Axis, edge: int) -> Axis:
    """Places of the first elements of the chunks."""
    if edge == 1:
        return axis
    count = -(-axis.count // edge)
    return Steps(count, axis.step * edge if isinstance(axis, Steps) else 0)
