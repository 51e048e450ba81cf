"""Where all chunks of an array are, as columns of numbers, from every part of a document.

What the document lists wins over gen entries, and those over the chunk index, as in `store.locate`; here
all chunks are worked out at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..access.index_arrays import read_index
from ..errors import InvalidReferencesError, UnsupportedError
from ..refs import gen
from ..refs.array_layout import ArrayLayout
from ..refs.byte_range import ChunkLocation
from ..refs.chunk_index import MISSING
from ..refs.chunk_key import METADATA_NAME, metadata_key
from ..refs.document import GenEntry, Rfs
from ..refs.zarr_metadata import chunk_grid_shape
from .locate import V2_NAMES, ChunkId, Locator

if TYPE_CHECKING:
    from .fetch_chunk import FileReader

HELD = -1
"""In place of a file's number: the document holds the chunk."""

_LARGEST_GRID = 2**62

Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class ChunkTable:
    """The chunks of one array.

    Attributes
    ----------
    grid : tuple of int
        Shape of the chunk grid.
    positions : numpy.ndarray
        int64: places of chunks in the grid, in C order, ascending.
    files : numpy.ndarray
        int64, for each chunk: the number of its file among all that were met, or `HELD`.
    offsets, lengths : numpy.ndarray
        uint64, in bytes; a length of 2**64 - 1 is that of the whole file.
    """

    grid: tuple[int, ...]
    positions: Int64s
    files: Int64s
    offsets: UInt64s
    lengths: UInt64s

    @property
    def coordinates(self) -> Int64s:
        """Chunk coordinates: int64 of shape (chunks, axes)."""
        if not self.grid:
            return np.empty((len(self.positions), 0), np.int64)
        return np.stack(np.unravel_index(self.positions, self.grid), axis=1)

    def __len__(self) -> int:
        return len(self.positions)

    def part(self, chosen: npt.NDArray[Any]) -> ChunkTable:
        """Some of the chunks, by a mask or by numbers."""
        columns = (self.positions, self.files, self.offsets, self.lengths)
        return ChunkTable(self.grid, *(column[chosen] for column in columns))


@dataclass
class _Listed:
    """Chunks that ``refs`` lists one by one."""

    coordinates: list[tuple[int, ...]] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def add(self, coordinates: tuple[int, ...], file: int, offset: int, length: int) -> None:
        self.coordinates.append(coordinates)
        self.files.append(file)
        self.offsets.append(offset)
        self.lengths.append(length)


@dataclass(frozen=True)
class _Part:
    coordinates: Int64s
    files: Int64s
    offsets: UInt64s
    lengths: UInt64s


class ChunkTables:
    """Makes the tables of a document's arrays.

    Parameters
    ----------
    rfs : Rfs
        A document from `load_rfs`.
    locator : Locator
        Of the same document.
    reader : optional
        What reads the files of index arrays; the process's own by default.

    Raises
    ------
    InvalidReferencesError
        When a key below an array names no chunk of it.
    """

    def __init__(self, rfs: Rfs, locator: Locator, *, reader: FileReader | None = None) -> None:
        self._rfs = rfs
        self._reader = reader
        self._locator = locator
        self._own_files = tuple(rfs.get("inline_files") or ())
        self._numbers: dict[str, int] = {}
        self._listed: dict[str, _Listed] = {}
        self._gen: dict[str, list[GenEntry]] = {}
        for entry in rfs.get("gen") or ():
            self._gen.setdefault(gen.array_path(entry), []).append(entry)
        for key in rfs["refs"]:
            self._list(key)

    @property
    def files(self) -> list[str]:
        """Locations of the files met so far, by their numbers."""
        return list(self._numbers)

    def table(self, path: str) -> ChunkTable:
        """The chunks of an array.

        Raises
        ------
        InvalidReferencesError
            When what the document says of it does not fit together.
        UnsupportedError
            When its chunk grid has more places than can be numbered.
        """
        layout = self._locator.layout(path)
        parts = list(self._parts(path, layout))
        grid = _grid(layout, parts)
        if math.prod(grid) > _LARGEST_GRID:
            raise UnsupportedError(f"array {'/' + path!r} has a chunk grid of {grid}, more than 2**62 places")
        index = self._index(path, grid)
        merged = [_placed(part, grid) for part in parts]
        return _merged(grid, [*merged, index] if index is not None else merged)

    def _list(self, key: str) -> None:
        if key.rpartition("/")[2] in (METADATA_NAME, *V2_NAMES):
            return
        chunk = self._locator.chunk_of(key)
        if chunk is None:
            self._refuse_lost(key)
            return
        if max(chunk.coordinates, default=0) > _LARGEST_GRID:
            return  # outside of every grid, where no reader looks
        listed = self._listed.setdefault(chunk.path, _Listed())
        found = self._locator.find(key)
        at = None if found is None else found.location
        if at is None or (self._own_files and at.url.endswith(self._own_files)):
            listed.add(chunk.coordinates, HELD, 0, 0)
        else:
            listed.add(chunk.coordinates, self._number(at.url), at.offset, _length(at))

    def _refuse_lost(self, key: str) -> None:
        """Refuse a key below an array that no reader would find; below a group nobody looks for it."""
        path = key
        while path:
            path = path.rpartition("/")[0]
            if metadata_key(path) in self._locator.refs:
                if self._locator.metadata(metadata_key(path)).get("node_type") == "array":
                    like = self._locator.key(ChunkId(path, (0,) * len(self._locator.layout(path).shape)))
                    raise InvalidReferencesError(
                        f"refs[{key!r}] is no chunk of array {'/' + path!r}, whose keys look like {like!r}"
                    )
                return

    def _number(self, url: str) -> int:
        return self._numbers.setdefault(url, len(self._numbers))

    def _parts(self, path: str, layout: ArrayLayout) -> Iterator[_Part]:
        """Chunks that are listed or given by rules; those that come first win."""
        axes = len(layout.shape)
        listed = self._listed.get(path)
        if listed is not None:
            coordinates = np.array(listed.coordinates, np.int64).reshape(len(listed.files), axes)
            files = np.array(listed.files, np.int64)
            yield _Part(coordinates, files, _uint64(listed.offsets), _uint64(listed.lengths))
        for entry in self._gen.get(path, ()):
            if gen.ndim(entry) != axes:
                raise InvalidReferencesError(
                    f"gen entry {entry['key']!r} is for {gen.ndim(entry)} axes; "
                    f"array {'/' + path!r} has {axes}"
                )
            coordinates, offsets, lengths = gen.table(entry)
            files = np.full(len(coordinates), self._number(entry["url"]), np.int64)
            if offsets is None or lengths is None:
                offsets, lengths = np.zeros_like(files, np.uint64), np.full_like(files, MISSING, np.uint64)
            yield _Part(coordinates, files, offsets, lengths)

    def _index(self, path: str, grid: tuple[int, ...]) -> ChunkTable | None:
        entry = (self._rfs.get("indexes") or {}).get(path)
        if entry is None:
            return None
        index = read_index(entry, reader=self._reader)
        if index.shape != (*grid, 2):
            raise InvalidReferencesError(
                f"the chunk index of array {'/' + path!r} has shape {index.shape}; its chunk grid is {grid}"
            )
        pairs = index.reshape(-1, 2)
        positions = np.flatnonzero((pairs != np.uint64(MISSING)).any(axis=1))
        files = np.full(len(positions), self._number(entry["url"]), np.int64)
        if len(positions) < len(pairs):
            pairs = pairs[positions]
        return ChunkTable(grid, positions, files, pairs[:, 0], pairs[:, 1])


def _length(location: ChunkLocation) -> int:
    return MISSING if location.length is None else location.length


def _uint64(numbers: Sequence[int]) -> UInt64s:
    return np.array(numbers, dtype=np.uint64)


def _grid(layout: ArrayLayout, parts: Sequence[_Part]) -> tuple[int, ...]:
    """The chunk grid; of one that is not regular, as much as has chunks."""
    if layout.chunk_shape is not None:
        return chunk_grid_shape(layout.shape, layout.chunk_shape)
    ends = [part.coordinates.max(axis=0) + 1 for part in parts if len(part.coordinates)]
    return tuple(np.max(ends, axis=0).tolist()) if ends else (0,) * len(layout.shape)


def _placed(part: _Part, grid: tuple[int, ...]) -> ChunkTable:
    """Places in the grid; what lies outside of it is left out, as no reader asks for it."""
    inside = (part.coordinates < np.array(grid, np.int64)).all(axis=1)
    positions = np.zeros(len(inside), np.int64)
    if grid:
        positions[inside] = np.ravel_multi_index(tuple(part.coordinates[inside].T), grid)
    return ChunkTable(grid, positions, part.files, part.offsets, part.lengths).part(inside)


def _merged(grid: tuple[int, ...], tables: Sequence[ChunkTable]) -> ChunkTable:
    """One table of several; of chunks at the same place the first is taken."""
    if not tables:
        none = np.empty(0, np.int64)
        return ChunkTable(grid, none, none, none.astype(np.uint64), none.astype(np.uint64))
    if len(tables) == 1 and bool((np.diff(tables[0].positions) > 0).all()):
        return tables[0]
    whole = ChunkTable(
        grid,
        np.concatenate([table.positions for table in tables]),
        np.concatenate([table.files for table in tables]),
        np.concatenate([table.offsets for table in tables]),
        np.concatenate([table.lengths for table in tables]),
    )
    return whole.part(np.unique(whole.positions, return_index=True)[1])
