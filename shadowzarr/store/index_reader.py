"""Chunk indexes: one entry for one chunk, reading as little of the index array as possible.

An index array is in memory (a document that was just generated), in a local folder, or behind a URL.
Its index chunks are read when a chunk they cover is asked for, once however many ask, and recent ones
are kept. Index arrays are ordinary zarr arrays: the codecs that `write_rfs` writes are decoded here,
any others by zarr.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from zarr.core.buffer import default_buffer_prototype

from ..access.locations import without_query
from ..errors import DamagedSourceError, InvalidReferencesError, ShadowzarrError
from ..refs.array_layout import ArrayLayout
from ..refs.byte_range import ChunkLocation
from ..refs.chunk_index import MISSING, check_index_metadata, entry_location, positions
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import IndexArray, IndexEntry, Rfs
from ..refs.index_codec import decode_index_chunk
from ..refs.node_checks import codec_name, parse_node
from ..refs.zarr_metadata import chunk_grid_shape
from .held_sizes import refuse_large
from .locate import ChunkId
from .named_errors import cause_of, named
from .places import inside
from .shared_reads import SharedReads

if TYPE_CHECKING:
    from .fetch_chunk import FileReader

KEPT_BYTES = 64 * 2**20
"""Decoded index chunks that are kept: about 4 million entries, or 64 index chunks."""

type Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index array that is not in memory: where it is, and how it is cut."""

    location: str
    metadata: dict[str, Any]
    layout: ArrayLayout
    chunk_shape: Coordinates

    @property
    def grid(self) -> Coordinates:
        """The chunk grid that it covers."""
        return self.layout.shape[:-1]

    @property
    def is_as_written(self) -> bool:
        """Whether it has the codecs that `write_rfs` writes."""
        codecs = self.metadata["codecs"]
        return (
            [codec_name(codec) for codec in codecs] == ["bytes", "blosc"]
            and isinstance(codecs[0], dict)
            and (codecs[0].get("configuration") or {}).get("endian") == "little"
        )


class IndexReader:
    """Looks up chunks in the chunk indexes of a document.

    Parameters
    ----------
    rfs : Rfs
        The document.
    layout_of : callable
        Layout of an array by its path.
    reader : FileReader
        What reads the files of index arrays.
    kept_bytes : int, optional
        Bytes of decoded index chunks to keep.
    """

    def __init__(
        self,
        rfs: Rfs,
        layout_of: Callable[[str], ArrayLayout],
        reader: FileReader,
        *,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self._entries: dict[str, IndexEntry] = rfs.get("indexes") or {}
        self._layout_of = layout_of
        self._reader = reader
        self._stored: dict[str, StoredIndex] = {}
        self._opened: SharedReads[dict[str, Any]] = SharedReads(KEPT_BYTES)
        self._chunks: SharedReads[IndexArray] = SharedReads(kept_bytes)

    async def location(self, chunk: ChunkId) -> ChunkLocation | None:
        """Where a chunk is; None when it was never written, or lies outside of the chunk grid.

        Raises
        ------
        ReadError, SourceError
            When the index cannot be read.
        InvalidReferencesError
            When it is not a chunk index of that array.
        """
        entry = self._entries[chunk.path]
        grid = self._grid(chunk.path)
        if not all(c < extent for c, extent in zip(chunk.coordinates, grid, strict=True)):
            return None
        index = entry["index"]
        if not isinstance(index, str):
            _check_grid(index.shape[:-1], grid, chunk.path)
            return _location(entry["url"], index, chunk.coordinates)
        stored = await self._open(chunk.path)
        edges = stored.chunk_shape[:-1]
        number = tuple(c // edge for c, edge in zip(chunk.coordinates, edges, strict=True))
        within = tuple(c % edge for c, edge in zip(chunk.coordinates, edges, strict=True))
        return _location(entry["url"], await self._index_chunk(chunk.path, stored, number), within)

    async def listed(self, path: str) -> AsyncIterator[ChunkId]:
        """The chunks that an array's index lists; reads one index chunk after the other."""
        async for first, part in self.parts(path):
            for coordinates in _present(part, first):
                yield ChunkId(path, coordinates)

    async def parts(self, path: str) -> AsyncIterator[tuple[Coordinates, IndexArray]]:
        """All entries of an array's index, a part after the other, each with its first coordinates."""
        index = self._entries[path]["index"]
        grid = self._grid(path)
        if not isinstance(index, str):
            _check_grid(index.shape[:-1], grid, path)
            yield (0,) * len(grid), index
            return
        stored = await self._open(path)
        edges = stored.chunk_shape[:-1]
        for number in positions(chunk_grid_shape(grid, edges)):
            part = await self._index_chunk(path, stored, number)
            first = tuple(n * edge for n, edge in zip(number, edges, strict=True))
            inside = tuple(slice(extent - start) for extent, start in zip(grid, first, strict=True))
            yield first, part[inside]

    def _grid(self, path: str) -> Coordinates:
        layout = self._layout_of(path)
        if layout.chunk_shape is None:
            raise InvalidReferencesError(f"array {'/' + path!r} has a chunk index but no regular chunk grid")
        return chunk_grid_shape(layout.shape, layout.chunk_shape)

    async def _open(self, path: str) -> StoredIndex:
        if path not in self._stored:
            entry = self._entries[path]
            location = str(entry["index"])
            metadata = entry.get("metadata")
            if metadata is None:  # written before documents held it: one more request
                metadata = await self._opened.get(path, lambda: self._read_metadata(path, location))
            stored = _describe(location, metadata)
            _check_grid(stored.grid, self._grid(path), path)
            self._stored[path] = stored
        return self._stored[path]

    async def _read_metadata(self, path: str, location: str) -> tuple[dict[str, Any], int]:
        data = await self._read_file(path, inside(location, METADATA_NAME))
        try:
            return parse_node(data, METADATA_NAME), len(data)
        except InvalidReferencesError as error:
            raise _unreadable(path, location, str(error)) from error

    async def _index_chunk(self, path: str, stored: StoredIndex, number: Coordinates) -> IndexArray:
        async def read() -> tuple[IndexArray, int]:
            place = inside(stored.location, stored.layout.tail((*number, 0)))
            data = await self._read_file(path, place)
            try:
                part = await _decode(data, stored, (*number, 0))
            except Exception as error:  # whatever zarr or a codec raises on them, these are no entries
                raise _unreadable(path, place, f"not an index chunk: {error}") from error
            return part, part.nbytes

        return await self._chunks.get((path, number), read)

    async def _read_file(self, path: str, place: str) -> bytes:
        """A file of the index array; it is never taken for missing, which would show fill values."""
        try:
            return bytes(await asyncio.to_thread(self._reader.read_whole, place))
        except (ShadowzarrError, OSError) as error:
            what = f"the chunk index of array {'/' + path!r} cannot be read"
            raise named(error, what, place) from cause_of(error)


def _describe(location: str, metadata: dict[str, Any]) -> StoredIndex:
    check_index_metadata(metadata, without_query(location))
    layout = ArrayLayout.from_metadata(metadata, without_query(location))
    chunk_shape = layout.chunk_shape or ()
    return StoredIndex(location, metadata, layout, chunk_shape)


def _check_grid(found: Coordinates, grid: Coordinates, path: str) -> None:
    if found != grid:
        raise InvalidReferencesError(
            f"the chunk index of array {'/' + path!r} is for a chunk grid of {found}, but the array "
            f"has {grid}; generate the references again"
        )


def _location(url: str, index: IndexArray, coordinates: Coordinates) -> ChunkLocation | None:
    offset, nbytes = index[coordinates].tolist()
    return entry_location(url, offset, nbytes)


def _present(index: IndexArray, first: Coordinates) -> Iterator[Coordinates]:
    """Coordinates of the chunks that a part of an index lists; the part starts at ``first``."""
    is_listed = (index != np.uint64(MISSING)).any(axis=-1)
    for within in zip(*(axis.tolist() for axis in np.nonzero(is_listed)), strict=True):
        yield tuple(a + b for a, b in zip(first, within, strict=True))


async def _decode(data: bytes, stored: StoredIndex, coordinates: Coordinates) -> IndexArray:
    if stored.is_as_written:
        return decode_index_chunk(data, stored.chunk_shape)
    refuse_large(data, stored.metadata)
    to_buffer = default_buffer_prototype().buffer.from_bytes
    files = {
        METADATA_NAME: to_buffer(json.dumps(stored.metadata).encode()),
        stored.layout.tail(coordinates): to_buffer(data),
    }
    array = await zarr.api.asynchronous.open_array(
        store=zarr.storage.MemoryStore(files), mode="r", zarr_format=3
    )
    region = tuple(
        slice(c * edge, (c + 1) * edge) for c, edge in zip(coordinates, stored.chunk_shape, strict=True)
    )
    return np.asarray(await array.getitem(region), dtype=np.uint64)


def _unreadable(path: str, place: str, reason: str) -> DamagedSourceError:
    return DamagedSourceError(
        f"the chunk index of array {'/' + path!r} is damaged ({without_query(place)}): {reason}; "
        "write the references again"
    )
