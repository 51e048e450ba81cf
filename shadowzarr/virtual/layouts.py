"""What lies behind a virtual array: a layout. Strided elements, whole chunks, or several layouts joined.

A layout is never changed; each operation gives another one. `Stacked` and `Joined` pass what is asked of them
on to their parts, so what the parts can do, the whole can.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from ..errors import NeedsDataError
from ..refs.slabs import largest_divisor
from .axes import Picks, as_range, numbers_between
from .chunk_bytes import ChunkForm
from .pieces import Piece, Spaced, stacked

LEAST_JOINED_BYTES = 64 * 2**10
"""Bytes of a chunk below which arrays are not cut so that they can be joined, unless it is asked for."""


class Layout(Protocol):
    """Where an array is, and what can be made of it without its data.

    ``shown`` is what messages call an axis: the one that was indexed, which may have another number here.
    """

    @property
    def itemsize(self) -> int:
        """Bytes of an element; 0 when they differ."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        ...

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Elements of a chunk along each axis, at least 1."""
        ...

    @property
    def form(self) -> ChunkForm:
        """How the bytes of a reference become a chunk."""
        ...

    @property
    def is_free(self) -> bool:
        """Whether it can be cut into any chunks, and none were asked for."""
        ...

    def pick(self, axis: int, wanted: Picks, shown: int) -> Layout:
        """Some of an axis."""
        ...

    def drop(self, axis: int, number: int, shown: int) -> Layout:
        """What is at one number of an axis, which is gone then."""
        ...

    def permute(self, order: Sequence[int]) -> Layout:
        """The axes in another order: axis ``n`` is the old axis ``order[n]``."""
        ...

    def cut(self, edges: tuple[int, ...]) -> Layout:
        """The same elements in chunks of another shape."""
        ...

    def pieces(self) -> Iterator[Piece]:
        """Where the chunks are. Only this may take longer for more chunks."""
        ...


@dataclass(frozen=True)
class _Several(ABC):
    """Layouts that are joined along an axis.

    Attributes
    ----------
    parts : tuple of Layout
        At least one; of an array without any, what one would be.
    axis : int
        Along which they are joined.
    """

    parts: tuple[Layout, ...]
    axis: int

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.parts[0].itemsize

    @cached_property
    def is_free(self) -> bool:
        """Whether all parts can be cut into any chunks."""
        return all(part.is_free for part in self.parts)

    @cached_property
    def alike(self) -> tuple[Layout, ...]:
        """The parts in chunks of one shape.

        Raises
        ------
        NeedsDataError
            When there is none that all can have.
        """
        given = next((part.chunk_shape for part in self.parts if not part.is_free), None)
        edges = self.usual_edges() if given is None else given
        return tuple(part if part.chunk_shape == edges else part.cut(edges) for part in self.parts)

    @abstractmethod
    def usual_edges(self) -> tuple[int, ...]:
        """Chunk shape of the parts when none was asked for."""

    def _with(self, parts: Sequence[Layout]) -> Self:
        return replace(self, parts=tuple(parts))


@dataclass(frozen=True)
class Stacked(_Several):
    """Alike layouts along a new axis with one element per chunk.

    Attributes
    ----------
    is_empty : bool
        Whether nothing is left along the new axis.
    """

    is_empty: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return _inserted(self.parts[0].shape, self.axis, 0 if self.is_empty else len(self.parts))

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Elements of a chunk along each axis."""
        return _inserted(self.alike[0].chunk_shape, self.axis, 1)

    @cached_property
    def form(self) -> ChunkForm:
        """How the bytes of a reference become a chunk."""
        form = _common_form(self.alike)
        if form.sees_shape:
            raise NeedsDataError(
                f"arrays with the codec {form.codecs[0]['name']!r} cannot be stacked: it sees the shape of a "
                "chunk, "
                "which would have one more axis"
            )
        others = [number for number in range(len(self.shape)) if number != self.axis]
        return form.renumbered(dict(enumerate(others)))

    def usual_edges(self) -> tuple[int, ...]:
        """Chunk shape of the first part."""
        return self.parts[0].chunk_shape

    def pick(self, axis: int, wanted: Picks, shown: int) -> Layout:
        """Some of the parts, or some of each."""
        if axis != self.axis:
            inner = self._inner(axis)
            return self._with([part.pick(inner, wanted, shown) for part in self.parts])
        if not len(wanted):
            return replace(self, parts=self.parts[:1], is_empty=True)
        return self._with([self.parts[number] for number in wanted])

    def drop(self, axis: int, number: int, shown: int) -> Layout:
        """One of the parts, or each without an axis."""
        if axis == self.axis:
            return self.parts[number]
        inner = self._inner(axis)
        parts = tuple(part.drop(inner, number, shown) for part in self.parts)
        return replace(self, parts=parts, axis=self.axis - (axis < self.axis))

    def permute(self, order: Sequence[int]) -> Layout:
        """The axes in another order."""
        inner = [self._inner(axis) for axis in order if axis != self.axis]
        parts = tuple(part.permute(inner) for part in self.parts)
        return replace(self, parts=parts, axis=list(order).index(self.axis))

    def cut(self, edges: tuple[int, ...]) -> Layout:
        """The same elements in chunks of another shape."""
        inner = (*edges[: self.axis], *edges[self.axis + 1 :])
        if edges[self.axis] != 1:
            raise NeedsDataError(
                f"stacked arrays have one element per chunk along axis {self.axis}, and not "
                f"{edges[self.axis]}"
            )
        return self._with([part.cut(inner) for part in self.parts])

    def pieces(self) -> Iterator[Piece]:
        """Where the chunks are; parts at even distances in one file are one piece."""
        if 0 in self.shape:
            return
        each = [list(part.pieces()) for part in self.alike]
        spaced = [found[0] for found in each if len(found) == 1 and isinstance(found[0], Spaced)]
        whole = stacked(spaced, self.axis) if len(spaced) == len(each) else None
        if whole is not None:
            yield whole
            return
        for number, found in enumerate(each):
            for piece in found:
                yield piece.inserted(self.axis, number)

    def _inner(self, axis: int) -> int:
        return axis - (axis > self.axis)


@dataclass(frozen=True)
class Joined(_Several):
    """Layouts end to end along an axis: each but the last in whole chunks."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        shape = list(self.parts[0].shape)
        shape[self.axis] = self._ends[-1]
        return tuple(shape)

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Elements of a chunk along each axis."""
        return self.alike[0].chunk_shape

    @cached_property
    def form(self) -> ChunkForm:
        """How the bytes of a reference become a chunk."""
        _check_grids(self.alike, self.axis)
        return _common_form(self.alike)

    @cached_property
    def _ends(self) -> list[int]:
        return list(itertools.accumulate(part.shape[self.axis] for part in self.parts))

    def usual_edges(self) -> tuple[int, ...]:
        """Chunk shape of the first part, with an edge that divides the parts that another follows."""
        first = self.parts[0]
        edges = list(first.chunk_shape)
        lengths = [part.shape[self.axis] for part in self.parts]
        wanted = edges[self.axis]
        edge = largest_divisor(math.gcd(*lengths[:-1]), wanted)
        edges[self.axis] = edge
        nbytes = math.prod(edges) * self.itemsize
        if edge < wanted and nbytes < LEAST_JOINED_BYTES:
            raise NeedsDataError(
                f"arrays of {_some(lengths)} elements along axis {self.axis} have no common divisor for "
                "chunks of a "
                f"useful size: {edge} elements, {nbytes} bytes. Cut each but the last to a multiple of some "
                "number, "
                f"or ask for such chunks by chunk_shape={tuple(edges)}"
            )
        return tuple(edges)

    def pick(self, axis: int, wanted: Picks, shown: int) -> Layout:
        """Some of each part, or of those that are reached."""
        if axis != self.axis:
            return self._with([part.pick(axis, wanted, shown) for part in self.parts])
        found = [self.parts[n].pick(axis, inner, shown) for n, inner in self._reached(wanted)]
        if not found:
            return self.parts[0].pick(axis, range(0), shown)
        return found[0] if len(found) == 1 else self._with(found)

    def drop(self, axis: int, number: int, shown: int) -> Layout:
        """What is at one number of an axis."""
        if axis == self.axis:
            ((part, inner),) = self._reached(range(number, number + 1))
            return self.parts[part].drop(axis, int(inner[0]), shown)
        parts = tuple(part.drop(axis, number, shown) for part in self.parts)
        return replace(self, parts=parts, axis=self.axis - (axis < self.axis))

    def permute(self, order: Sequence[int]) -> Layout:
        """The axes in another order."""
        parts = tuple(part.permute(order) for part in self.parts)
        return replace(self, parts=parts, axis=list(order).index(self.axis))

    def cut(self, edges: tuple[int, ...]) -> Layout:
        """The same elements in chunks of another shape."""
        return self._with([part.cut(edges) for part in self.parts])

    def pieces(self) -> Iterator[Piece]:
        """Where the chunks are."""
        at = 0
        edge = self.chunk_shape[self.axis]
        for part in self.alike:
            for piece in part.pieces():
                yield piece.moved(self.axis, at)
            at += -(-part.shape[self.axis] // edge)

    def _reached(self, wanted: Picks) -> Iterator[tuple[int, Picks]]:
        """Parts that are reached, in order, and what is taken of each."""
        if isinstance(wanted, range):
            yield from self._reached_evenly(wanted)
            return
        parts = np.searchsorted(self._ends, wanted, side="right")
        for run in np.split(np.arange(len(wanted)), np.flatnonzero(np.diff(parts)) + 1):
            number = int(parts[run[0]])
            yield number, as_range(wanted[run] - self._begin(number))

    def _reached_evenly(self, wanted: range) -> Iterator[tuple[int, range]]:
        """As `_reached`, without looking at each number."""
        step, numbers = wanted.step, range(len(self.parts))
        for number in numbers if step > 0 else reversed(numbers):
            begin = self._begin(number)
            found = numbers_between(wanted, begin, self._ends[number])
            if len(found):
                inside = wanted[found.start : found.stop]
                yield number, range(inside.start - begin, inside.stop - begin, step)

    def _begin(self, number: int) -> int:
        return self._ends[number - 1] if number else 0


def _common_form(parts: Sequence[Layout]) -> ChunkForm:
    """The form that all parts have."""
    form = parts[0].form
    for number, part in enumerate(parts):
        if part.form != form:
            raise NeedsDataError(
                f"the chunks of array {number} are stored otherwise than those of array 0: "
                f"{_shown(part.form)}, and "
                f"{_shown(form)}. A Zarr array has one way for all its chunks"
            )
    return form


def _check_grids(parts: Sequence[Layout], axis: int) -> None:
    """Refuse arrays end to end of which one but the last ends inside a chunk."""
    edge = parts[0].chunk_shape[axis]
    for number, part in enumerate(parts[:-1]):
        extent = part.shape[axis]
        if extent % edge:
            raise NeedsDataError(
                f"array {number} has {extent} elements along axis {axis}, which is no multiple of the {edge} "
                "in a chunk: "
                f"the next array would begin inside one. Its first {extent // edge * edge} elements can be "
                "joined"
            )


def _shown(form: ChunkForm) -> str:
    names = ", ".join(str(codec["name"]) for codec in form.codecs)
    turned = f", axes {form.order}" if form.is_turned else ""
    records = f", {len(form.keep)} ranges of records of {form.record_size} bytes" if form.keep else ""
    return f"codecs {names}{turned}{records}"


def _some(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")


def _inserted(numbers: tuple[int, ...], axis: int, number: int) -> tuple[int, ...]:
    return (*numbers[:axis], number, *numbers[axis:])
