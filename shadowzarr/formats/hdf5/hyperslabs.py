"""Regular hyperslabs, and how the elements of two of them pair up.

Pure. A virtual dataset pairs the elements of a selection of its own with those of a selection of a source,
both in C order. Where that pairs axis with axis, each axis is a list of segments: runs of elements that
follow one another on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from h5py import h5s

MOST_RUNS = 1_000_000
"""Blocks along an axis that are listed."""

Axis = tuple[int, int, int, int]
"""Start, stride, count and block; count or block may be `h5py.h5s.UNLIMITED`."""


class NotRegularError(Exception):
    """Two selections do not pair axis by axis; the message says why."""


class Segment(NamedTuple):
    """Elements that follow one another in the virtual dataset and in the source."""

    virtual: int
    source: int
    length: int

    @property
    def end(self) -> int:
        """The virtual dataset's first element after it."""
        return self.virtual + self.length


@dataclass(frozen=True, slots=True)
class Box:
    """A regular hyperslab.

    Attributes
    ----------
    axes : tuple of Axis
        By axis.
    """

    axes: tuple[Axis, ...]

    @property
    def unlimited(self) -> int | None:
        """The axis without an end; None when there is none."""
        return next((n for n, axis in enumerate(self.axes) if h5s.UNLIMITED in axis[2:]), None)

    def within(self, shape: tuple[int, ...]) -> Box:
        """The same spelled out, when it is `EVERYTHING`."""
        return self if self.axes else Box(tuple((0, 1, 1, extent) for extent in shape))

    def with_axis(self, number: int, axis: Axis) -> Box:
        """The same with another axis."""
        return Box((*self.axes[:number], axis, *self.axes[number + 1 :]))

    def selected(self) -> tuple[int | None, ...]:
        """Number of elements along each axis; None without an end."""
        return tuple(None if h5s.UNLIMITED in axis[2:] else axis[2] * axis[3] for axis in self.axes)

    def ends(self) -> tuple[int, ...]:
        """The first element after it along each axis; 0 without an end."""
        return tuple(
            0 if h5s.UNLIMITED in (count, block) or not count else start + (count - 1) * stride + block
            for start, stride, count, block in self.axes
        )


EVERYTHING = Box(())
"""All of a dataset, whatever its shape."""


def box_of(space: h5s.SpaceID) -> Box | None:
    """The hyperslab that a dataspace selects; None when it is no regular one."""
    if space.get_select_type() != h5s.SEL_HYPERSLABS or not space.is_regular_hyperslab():
        return None
    axes = zip(*space.get_regular_hyperslab(), strict=True)
    return Box(tuple((int(start), int(step), int(count), int(block)) for start, step, count, block in axes))


def paired_axes(virtual: Box, source: Box) -> list[tuple[int, int]]:
    """Which axis of the one pairs with which axis of the other; axes left out select one element.

    Raises
    ------
    NotRegularError
        When the selections have different shapes, but for axes of one element.
    """
    ours, theirs = virtual.selected(), source.selected()
    if ours == theirs:
        return [(number, number) for number in range(len(ours))]
    long = [[n for n, count in enumerate(counts) if count != 1] for counts in (ours, theirs)]
    if [ours[n] for n in long[0]] != [theirs[n] for n in long[1]]:
        raise NotRegularError("a source whose selection has another shape")
    return list(zip(*long, strict=True))


def segments(virtual: Axis, source: Axis, extents: tuple[int, int]) -> list[Segment]:
    """Segments along one pair of axes, inside the extents that virtual dataset and source have now.

    Raises
    ------
    NotRegularError
        When there are too many.
    """
    ours, theirs = _runs(virtual, extents[0]), _runs(source, extents[1])
    found: list[Segment] = []
    first = second = 0  # elements of the present runs that are done
    one = other = 0
    while one < len(ours) and other < len(theirs):
        length = min(ours[one][1] - first, theirs[other][1] - second)
        _join(found, Segment(ours[one][0] + first, theirs[other][0] + second, length))
        first, second = first + length, second + length
        if first == ours[one][1]:
            one, first = one + 1, 0
        if second == theirs[other][1]:
            other, second = other + 1, 0
    inside = (_clipped(segment, extents) for segment in found)
    return [segment for segment in inside if segment.length > 0]


def _runs(axis: Axis, extent: int) -> list[tuple[int, int]]:
    """Start and length of each block; an axis without an end reaches to the extent."""
    start, stride, count, block = axis
    if block == h5s.UNLIMITED or (count == h5s.UNLIMITED and stride <= block):
        return [(start, max(0, extent - start))]
    if count == h5s.UNLIMITED:
        count = max(0, -(-(extent - start) // stride))
    if stride == block or count == 1:
        return [(start, count * block)]
    if count > MOST_RUNS:
        raise NotRegularError("a selection of too many blocks")
    return [(start + number * stride, block) for number in range(count)]


def _join(found: list[Segment], segment: Segment) -> None:
    if found:
        last = found[-1]
        if last.end == segment.virtual and last.source + last.length == segment.source:
            found[-1] = last._replace(length=last.length + segment.length)
            return
    found.append(segment)


def _clipped(segment: Segment, extents: tuple[int, int]) -> Segment:
    length = min(segment.length, extents[0] - segment.virtual, extents[1] - segment.source)
    return segment._replace(length=length)
