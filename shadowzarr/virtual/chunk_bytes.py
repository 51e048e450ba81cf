"""How the bytes of a reference become a chunk: as they lie, with axes in another order, or selected. Pure.

`ChunkForm` is what arrays that are joined must have in common, for a Zarr array has one. `described` finds
the form of chunks that are cut out of a regular grid of elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .axes import Axis, Numbers, Places, Steps

MOST_RANGES = 2**14
"""Byte ranges of one record that a document names at most."""

_MOST_ELEMENTS = 2**20
"""Pieces of a record that are looked at to find ranges that touch."""

Codecs = tuple[dict[str, Any], ...]


class UnfitError(Exception):
    """Chunks cannot be described so; the message says why."""


@dataclass(frozen=True)
class ChunkForm:
    """How the bytes of a reference become a chunk.

    Attributes
    ----------
    order : tuple of int
        Axes in the order in which a chunk stores them, slowest first. Those along which a chunk has one
        element may be left out, unless `sees_shape`.
    codecs : tuple of dict
        Zarr v3 codecs that follow a transposition.
    record_size : int
        Bytes of a record of which some are kept; 0 when all are.
    keep : tuple of (int, int)
        Half-open byte ranges of a record, in order.
    sees_shape : bool
        Whether the codecs see the shape of the chunk, so that no axis may be added or dropped.
    """

    order: tuple[int, ...]
    codecs: Codecs
    record_size: int = 0
    keep: tuple[tuple[int, int], ...] = ()
    sees_shape: bool = False

    @property
    def is_turned(self) -> bool:
        """Whether the axes are stored in another order."""
        return list(self.order) != sorted(self.order)

    def all_codecs(self, ndim: int) -> list[dict[str, Any]]:
        """The codecs of the array, with the transposition that the order asks for."""
        if not self.is_turned:
            return [dict(codec) for codec in self.codecs]
        rest = [axis for axis in range(ndim) if axis not in self.order]
        turn = {"name": "transpose", "configuration": {"order": [*rest, *self.order]}}
        return [turn, *(dict(codec) for codec in self.codecs)]

    def renumbered(self, numbers: dict[int, int]) -> ChunkForm:
        """The form when axes have other numbers; those without one are gone."""
        return replace(self, order=tuple(numbers[axis] for axis in self.order if axis in numbers))


@dataclass(frozen=True, slots=True)
class ChunkBytes:
    """Where a chunk's bytes begin and end, beside its first element, and what of them is the chunk.

    Attributes
    ----------
    shift : int
        Bytes from the first element of a chunk to the first byte of its reference; never positive.
    nbytes : int
        Bytes of its reference.
    order : tuple of int
        As for `ChunkForm`.
    record_size, keep
        As for `ChunkForm`.
    """

    shift: int
    nbytes: int
    order: tuple[int, ...]
    record_size: int = 0
    keep: tuple[tuple[int, int], ...] = ()


@lru_cache(maxsize=1024)  # the arrays that are joined are alike
def described(axes: tuple[Axis, ...], overhang: frozenset[int], itemsize: int) -> ChunkBytes:
    """The form of a chunk of elements.

    Parameters
    ----------
    axes : tuple of Axis
        Places of the elements of one chunk along each axis.
    overhang : frozenset of int
        Axes along which the last chunk reaches past the array, where the file may end.
    itemsize : int
        Bytes of an element.

    Raises
    ------
    UnfitError
        When it takes too many ranges, or would read past what is there.
    """
    inner = [(number, axis) for number, axis in enumerate(axes) if axis.count > 1]
    stored = sorted(inner, key=lambda item: -item[1].gap)
    if _is_one_piece([axis for _, axis in stored], itemsize):
        nbytes = math.prod(axis.count for _, axis in inner) * itemsize
        return ChunkBytes(0, nbytes, tuple(number for number, _ in stored))
    _check_overhang(inner, overhang, itemsize)
    return _selected([axis for _, axis in inner], tuple(number for number, _ in inner), itemsize)


def span(axes: Sequence[Axis], itemsize: int) -> tuple[int, int]:
    """First byte of some elements and the end of the last, from the place of the first."""
    bounds = [axis.bounds for axis in axes]
    return sum(low for low, _ in bounds), sum(high for _, high in bounds) + itemsize


def count_ranges(axes: Sequence[Axis], itemsize: int) -> int:
    """Pieces of a record at most, if the elements of a chunk are one."""
    rest, _ = _without_run([axis for axis in axes if axis.count > 1], itemsize)
    return math.prod(axis.count for axis in rest)


def _is_one_piece(axes: Sequence[Axis], itemsize: int) -> bool:
    """Whether elements follow one another in the file without gaps, slowest axis first."""
    expected = itemsize
    for axis in reversed(axes):
        if not isinstance(axis, Steps) or axis.step != expected:
            return False
        expected *= axis.count
    return True


def _check_overhang(inner: Sequence[tuple[int, Axis]], overhang: frozenset[int], itemsize: int) -> None:
    """Refuse chunks at an array's end that name bytes after the last one of the array.

    Bytes of elements past the array are dropped, but they are read when they come before an element of the
    array in the chunk. They lie before it in the file too when each axis outside of theirs steps over them.
    """
    past = [number for number, (axis, _) in enumerate(inner) if axis in overhang]
    for number in range(max(past, default=0)):
        axis = inner[number][1]
        low, high = span([each for _, each in inner[number + 1 :]], itemsize)
        if not isinstance(axis, Steps) or axis.step < high - low:
            raise UnfitError(
                f"the last chunk along axis {inner[max(past)][0]} reaches past the array, where the file may "
                "end"
            )


def _selected(axes: Sequence[Axis], order: tuple[int, ...], itemsize: int) -> ChunkBytes:
    """Records as short as they can be, and what is kept of each."""
    low, _ = span(axes, itemsize)
    for outer in range(len(axes), -1, -1):
        records, body = axes[:outer], axes[outer:]
        first, end = span(body, itemsize)
        size = _record_size(records) if records else end - first
        if size < end - first:
            continue
        keep = _ranges(body, itemsize, -first)
        count = math.prod(axis.count for axis in records)
        last = max(stop for _, stop in keep)
        return ChunkBytes(low, (count - 1) * size + last, tuple(sorted(order)), size, keep)
    raise UnfitError("its elements lie in no order that repeats")  # a single record always does


def _record_size(axes: Sequence[Axis]) -> int:
    """Bytes from one record to the next when all axes step by records; 0 when they do not."""
    size = expected = 0
    for axis in reversed(axes):
        if not isinstance(axis, Steps) or axis.step <= 0 or (expected and axis.step != expected):
            return 0
        size, expected = size or axis.step, axis.step * axis.count
    return size


def _ranges(body: Sequence[Axis], itemsize: int, shift: int) -> tuple[tuple[int, int], ...]:
    """Byte ranges of the elements of a record, neighbours joined."""
    rest, run = _without_run(body, itemsize)
    count = math.prod(axis.count for axis in rest)
    if count > _MOST_ELEMENTS:
        raise UnfitError(f"{count:,} pieces of every record would be kept; at most {MOST_RANGES:,} are named")
    starts: Numbers = np.full(1, shift, np.int64)
    for axis in rest:
        starts = np.add.outer(starts, axis.places()).reshape(-1)
    first = np.flatnonzero(np.append(True, np.diff(starts) != run))
    if len(first) > MOST_RANGES:
        raise UnfitError(
            f"{len(first):,} pieces of every record would be kept; at most {MOST_RANGES:,} are named"
        )
    lengths = np.diff(np.append(first, len(starts))) * run
    begins = starts[first]
    return tuple(zip(begins.tolist(), (begins + lengths).tolist(), strict=True))


def _without_run(axes: Sequence[Axis], itemsize: int) -> tuple[list[Axis], int]:
    """The axes without the last ones along which elements touch, and the bytes of these."""
    rest, run = list(axes), itemsize
    while rest and isinstance(rest[-1], Steps) and rest[-1].step == run:
        run *= rest.pop().count
    return rest, run


def is_listed(axis: Axis) -> bool:
    """Whether an axis cannot be cut into longer chunks: a list, or one that runs backwards."""
    return isinstance(axis, Places) or axis.step < 0
