"""What a builder has collected: nodes, where chunks are, and facts. No rules, no document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..refs.document import (
    ConvertedEntry,
    Dimension,
    GenEntry,
    IndexEntry,
    SelectionEntry,
    SkippedEntry,
    SourceEntry,
)
from ..refs.zarr_metadata import chunk_grid_shape, chunk_shape_of

if TYPE_CHECKING:
    from .rfs_builder import RfsBuilder

NAMES = ("i", "j", "k")
"""What the first dimensions of a gen entry are called; the others are ``i3``, ``i4``, …"""


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """Chunks of one length that are evenly spaced along each axis: one gen entry.

    Attributes
    ----------
    url : str
        Their file.
    start, length : int
        Offset of the first chunk, and bytes of each.
    first, counts, strides : tuple of int
        Along each axis: coordinate of the first chunk, number of chunks, and bytes from one to the next.
    """

    url: str
    start: int
    length: int
    first: tuple[int, ...]
    counts: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def last(self) -> tuple[int, ...]:
        """Coordinates of the last chunk."""
        return tuple(first + count - 1 for first, count in zip(self.first, self.counts, strict=True))

    def bounds(self) -> tuple[int, int]:
        """The lowest offset of a chunk and the highest."""
        spans = [(count - 1) * step for count, step in zip(self.counts, self.strides, strict=True)]
        return self.start + sum(min(0, span) for span in spans), self.start + sum(max(0, s) for s in spans)

    def entry(self, path: str, url: str) -> GenEntry:
        """The rule; ``url`` is how the document spells the run's."""
        axes = [axis for axis, count in enumerate(self.counts) if count != 1]
        axes = axes or [len(self.counts) - 1]
        names = {axis: NAMES[n] if n < len(NAMES) else f"i{n}" for n, axis in enumerate(axes)}
        coordinates = [f"{{{{{names[n]}}}}}" if n in names else str(at) for n, at in enumerate(self.first)]
        start = self.start - sum(self.first[axis] * self.strides[axis] for axis in axes)
        terms = [str(start), *(f"{names[axis]} * {self.strides[axis]}" for axis in axes)]
        return {
            "key": "/".join([*([path] if path else []), "c", *coordinates]),
            "url": url,
            "offset": f"{{{{{' + '.join(terms)}}}}}",
            "length": str(self.length),
            "dimensions": {names[axis]: self._dimension(axis) for axis in axes},
        }

    def _dimension(self, axis: int) -> Dimension:
        first = self.first[axis]
        stop = first + self.counts[axis]
        return {"start": first, "stop": stop} if first else {"stop": stop}


@dataclass
class ArrayPart:
    """An array, and where its chunks are.

    Attributes
    ----------
    metadata : dict
        Its ``zarr.json``, with attributes as they were given.
    chunks : dict
        By chunk coordinates: ``[url]`` or ``[url, offset, length]``.
    inline : dict
        By chunk coordinates: bytes that the document holds.
    runs : list of ChunkRun
        Evenly spaced chunks.
    index : IndexEntry or None
        Its chunk index.
    selection : SelectionEntry or None
        Which bytes of its references belong to it.
    """

    metadata: dict[str, Any]
    chunks: dict[tuple[int, ...], list[Any]] = field(default_factory=dict)
    inline: dict[tuple[int, ...], bytes] = field(default_factory=dict)
    runs: list[ChunkRun] = field(default_factory=list)
    index: IndexEntry | None = None
    selection: SelectionEntry | None = None

    @cached_property
    def grid(self) -> tuple[int, ...]:
        """Number of chunks along each axis."""
        return chunk_grid_shape(self.metadata["shape"], chunk_shape_of(self.metadata))

    @property
    def is_referenced(self) -> bool:
        """Whether some of its chunks are in files."""
        return bool(self.chunks or self.runs) or self.index is not None


@dataclass
class Parts:
    """All that a builder was told.

    Attributes
    ----------
    nodes : dict
        Metadata of groups, and arrays, by path, in the order in which they were added.
    urls : dict
        The files that references name, in order.
    sources, skipped, converted
        As in the document.
    deferred : list
        What is left to be added when the document is built.
    """

    nodes: dict[str, dict[str, Any] | ArrayPart] = field(default_factory=dict)
    urls: dict[str, None] = field(default_factory=dict)
    sources: dict[str, SourceEntry] = field(default_factory=dict)
    skipped: list[SkippedEntry] = field(default_factory=list)
    converted: list[ConvertedEntry] = field(default_factory=list)
    deferred: list[Callable[[RfsBuilder], None]] = field(default_factory=list)
