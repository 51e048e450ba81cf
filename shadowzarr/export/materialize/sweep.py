"""How an array is gone through once: which blocks are read in which order, and what is open meanwhile.

A *block* is what is read at a time, some whole chunks of the source; a *unit* is what is written at a time, a
chunk or a shard of the new array. Every block is read exactly once, and its parts go into the units that they
belong to; a unit is written when its last part came. What is not complete is *open*: in memory as long as
there is room, else in a scratch file. How much can be open at a time follows from the shapes alone. Pure.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...errors import UsageError
from ...formatting import format_bytes

Coordinates = tuple[int, ...]
Shape = tuple[int, ...]

BLOCK_BYTES = 16 * 2**20
"""Bytes of a block: enough chunks at a time for requests to be merged and under way together."""

_READING = 3
"""Times the bytes of a block that reading it takes: what is stored, what is decoded, and the block."""

_WRITING = 3
"""Times the bytes of a unit that writing it takes beside the unit: zarr's copy, its parts, and the whole."""


@dataclass(frozen=True)
class Cut:
    """An array as it is cut on both sides.

    Attributes
    ----------
    shape : tuple of int
        Of the array.
    source : tuple of int
        Shape of what the source has to be read by, a chunk or a part of one.
    unit : tuple of int
        Shape of what is written at a time.
    itemsize : int
        Bytes of an element.
    """

    shape: Shape
    source: Shape
    unit: Shape
    itemsize: int

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a box, as much of it as can lie within the array."""
        clipped = (min(edge, extent) for edge, extent in zip(shape, self.shape, strict=True))
        return math.prod(clipped) * self.itemsize

    @property
    def units(self) -> Shape:
        """Number of units along each axis."""
        return _grid(self.shape, self.unit)


@dataclass(frozen=True)
class Sweep:
    """One way of going through an array.

    Attributes
    ----------
    cut : Cut
        The array.
    block : tuple of int
        Shape of a block.
    order : tuple of int
        The axes, that which moves slowest first.
    threads : int
        Blocks that are worked on at the same time.
    in_memory : bool
        Whether open units are kept in memory.
    """

    cut: Cut
    block: Shape
    order: tuple[int, ...]
    threads: int = 1
    in_memory: bool = True

    @cached_property
    def grid(self) -> Shape:
        """Number of blocks along each axis."""
        return _grid(self.cut.shape, self.block)

    @cached_property
    def open_nbytes(self) -> int:
        """Bytes of units that may be open at a time, at most."""
        cut = self.cut
        spans = [_most_spanned(self.block[axis], cut.unit[axis], cut.shape[axis]) for axis in self.order]
        carried = [_is_carried(self.block[axis], cut.unit[axis], cut.shape[axis]) for axis in self.order]
        if not any(carried):
            return 0  # every unit is complete with the block that it lies in
        counts = [cut.units[axis] for axis in self.order]
        most, inner = 1, 1
        for span, carry, count in zip(reversed(spans), reversed(carried), reversed(counts), strict=True):
            # those that the next step along this axis goes on with, and those of the step under way
            most = (inner if carry else 0) + span * most
            inner *= count
        most += (self.threads - 1) * math.prod(spans)
        return min(most, math.prod(counts)) * cut.nbytes(cut.unit)

    @property
    def nbytes(self) -> int:
        """Bytes that are held at a time, at most."""
        cut = self.cut
        at_work = _READING * cut.nbytes(self.block) + _WRITING * cut.nbytes(cut.unit)
        is_open = self.open_nbytes if self.in_memory else self.threads * cut.nbytes(cut.unit)
        return self.threads * at_work + is_open

    def blocks(self) -> Iterator[Coordinates]:
        """Coordinates of all blocks, in the order in which they are read."""
        ranges = [range(self.grid[axis]) for axis in self.order]
        places = [self.order.index(axis) for axis in range(len(self.order))]
        for turned in itertools.product(*ranges):
            yield tuple(turned[place] for place in places)

    def ordered(self, blocks: Iterable[Coordinates]) -> list[Coordinates]:
        """Some blocks, in the order in which they are read."""
        return sorted(blocks, key=lambda block: tuple(block[axis] for axis in self.order))

    def block_region(self, block: Coordinates) -> tuple[slice, ...]:
        """The elements of a block."""
        return _region(block, self.block, self.cut.shape)

    def unit_region(self, unit: Coordinates) -> tuple[slice, ...]:
        """The elements of a unit."""
        return _region(unit, self.cut.unit, self.cut.shape)

    def units_of(self, block: Coordinates) -> Iterator[Coordinates]:
        """The units that a block has parts of."""
        return itertools.product(*_touched(self.block_region(block), self.cut.unit))

    def blocks_of(self, unit: Coordinates) -> Iterator[Coordinates]:
        """The blocks that a unit has parts in."""
        return itertools.product(*_touched(self.unit_region(unit), self.block))

    def blocks_of_chunk(self, chunk: Coordinates, chunk_shape: Shape) -> Iterator[Coordinates]:
        """The blocks that a chunk of the source lies in."""
        return itertools.product(*_touched(_region(chunk, chunk_shape, self.cut.shape), self.block))


def choose_sweep(cut: Cut, *, threads: int, memory: int, can_spill: bool) -> Sweep:
    """The best way of going through an array with so much memory.

    As many threads as have room are better than fewer, as long as what is open stays in memory; that is
    better than a scratch file.

    Parameters
    ----------
    cut : Cut
        The array.
    threads : int
        The most blocks to work on at the same time.
    memory : int
        Bytes to hold at a time.
    can_spill : bool
        Whether open units can lie in a scratch file.

    Raises
    ------
    UsageError
        When the memory does not suffice for one chunk of the source and what is written at a time.
    """
    ways = []
    for count in range(threads, 0, -1):
        target = max(1, min(BLOCK_BYTES, memory // (4 * _READING * count)))
        ways += [replace(way, threads=count) for way in _ways(cut, target)]
        fits = [way for way in ways[-max(1, len(cut.shape)) :] if way.nbytes <= memory]
        if fits:
            return min(fits, key=lambda way: way.open_nbytes)
    spilling = [replace(way, in_memory=False) for way in ways]
    fits = [way for way in spilling if way.nbytes <= memory]
    if can_spill and fits:
        most = max(way.threads for way in fits)
        return min((way for way in fits if way.threads == most), key=lambda way: way.open_nbytes)
    least = min((spilling if can_spill else ways), key=lambda way: way.nbytes)
    raise UsageError(
        f"{format_bytes(least.nbytes)} of memory are needed: a piece of the source of shape "
        f"{list(cut.source)} has {format_bytes(cut.nbytes(cut.source))}, and {list(cut.unit)} are written at "
        f"a time, {format_bytes(cut.nbytes(cut.unit))}; allowed are {format_bytes(memory)} (max_memory, "
        "--max-memory)"
    )


def _ways(cut: Cut, target: int) -> Iterator[Sweep]:
    """One sweep for each axis that may move slowest."""
    axes = tuple(range(len(cut.shape)))
    for first in axes or (None,):
        order = axes if first is None else (first, *(axis for axis in axes if axis != first))
        yield Sweep(cut, _grown(cut, order, target), order)


def _grown(cut: Cut, order: Sequence[int], target: int) -> Shape:
    """As many pieces of the source as make a block, joined along the axes that move fastest."""
    block = list(cut.source)
    for axis in reversed(order):
        pieces = -(-cut.shape[axis] // cut.source[axis])
        room = target // max(1, cut.nbytes(tuple(block)))
        block[axis] *= max(1, min(pieces, room))
    return tuple(block)


def _grid(shape: Shape, edges: Shape) -> Shape:
    return tuple(-(-extent // edge) for extent, edge in zip(shape, edges, strict=True))


def _region(at: Coordinates, edges: Shape, shape: Shape) -> tuple[slice, ...]:
    each = zip(at, edges, shape, strict=True)
    return tuple(slice(n * edge, min((n + 1) * edge, extent)) for n, edge, extent in each)


def _touched(region: tuple[slice, ...], edges: Shape) -> list[range]:
    each = zip(region, edges, strict=True)
    return [range(part.start // edge, (part.stop - 1) // edge + 1) for part, edge in each]


def _most_spanned(block: int, unit: int, extent: int) -> int:
    """How many units a block touches along an axis, at most."""
    whole = -(-extent // unit)
    if block % unit == 0:
        return min(whole, block // unit)
    if unit % block == 0:
        return 1
    return min(whole, (block - 2) // unit + 2)


def _is_carried(block: int, unit: int, extent: int) -> bool:
    """Whether a unit may go on from one block to the next along an axis."""
    return block < extent and block % unit != 0
