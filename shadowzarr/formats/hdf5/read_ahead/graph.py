"""What the walks over one file share: where they have been, and what they found.

A walk that meets another node starts a walk of its own for it, so that one that is not understood stops
nothing but itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..chunk_table import ChunkTable
from .fields import Sizes, Walk
from .fractal_heap import FractalHeap
from .superblock import Superblock


@dataclass(slots=True)
class Graph:
    """One file.

    Attributes
    ----------
    superblock : Superblock
        Of the file.
    file_size : int
        Bytes of the file.
    started : deque of Walk
        Walks that have not asked for anything yet.
    shared_heaps : dict of int to int
        Addresses of the heaps of shared messages, by the type of the messages.
    heaps : dict of int to FractalHeap
        Those of them that were read.
    tables : dict of int to ChunkTable
        Chunks of chunked datasets, by the address of the dataset's header.
    page : int
        Bytes of a page of the file's space; 0 when it is not paged.
    """

    superblock: Superblock
    file_size: int
    started: deque[Walk[None]] = field(default_factory=deque)
    shared_heaps: dict[int, int] = field(default_factory=dict)
    heaps: dict[int, FractalHeap] = field(default_factory=dict)
    tables: dict[int, ChunkTable] = field(default_factory=dict)
    page: int = 0
    _known: set[int] = field(default_factory=set)

    @property
    def base(self) -> int:
        """What addresses count from."""
        return self.superblock.base

    @property
    def sizes(self) -> Sizes:
        """Of addresses and lengths."""
        return self.superblock.sizes

    def start(self, walk: Walk[None]) -> None:
        """Begin a walk beside the others."""
        self.started.append(walk)

    def knows(self, place: int) -> bool:
        """Whether a walk was at a node."""
        return place in self._known

    def is_new(self, place: int) -> bool:
        """Whether no walk was at a node yet; from now on one was."""
        if place in self._known:
            return False
        self._known.add(place)
        return True


def together(walks: Sequence[Walk[Any]]) -> Walk[list[Any]]:
    """Several walks as one, in step; gives their results."""
    results: list[Any] = [None] * len(walks)
    begun = {i: _next(walk, None, results, i) for i, walk in enumerate(walks)}
    wanted = {i: ranges for i, ranges in begun.items() if ranges is not None}
    while wanted:
        buffers = yield [each for ranges in wanted.values() for each in ranges]
        at, going = 0, dict(wanted)
        for i, ranges in going.items():
            part, at = buffers[at : at + len(ranges)], at + len(ranges)
            more = _next(walks[i], part, results, i)
            if more is None:
                del wanted[i]
            else:
                wanted[i] = more
    return results


def _next(walk: Walk[Any], buffers: list[bytes] | None, results: list[Any], place: int) -> Any:
    """Send a walk its bytes; gives what it wants next, or None after keeping its result."""
    try:
        return next(walk) if buffers is None else walk.send(buffers)
    except StopIteration as ended:
        results[place] = ended.value
        return None
