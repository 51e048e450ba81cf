"""Chunk location → bytes: which part of the file, selection, padding, and errors that name the chunk.

Reading itself is left to a range reader. Uncompressed chunks are read up to the last byte that lies
within the array and no further, so a last chunk that is short in the file is padded, and bytes that
are missing where the array has values are an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ..access.locations import without_query
from ..access.merging import RangeMerger
from ..access.range_reader import DefaultReader, RangeReader
from ..access.sources import Source, describe
from ..errors import InvalidReferencesError, ReadError, ShadowzarrError, ShortReadError
from ..refs.array_layout import ArrayLayout
from ..refs.byte_range import ChunkLocation, FileRange, clip
from ..refs.document import Rfs, SourceEntry
from ..refs.selection import Selection, file_range, selected_length, take
from .locate import ChunkId
from .named_errors import cause_of, named

Bytes = bytes | memoryview


class FileReader(RangeReader, Protocol):
    """Reads ranges of files, and small files whole."""

    def read_whole(self, url: str) -> Bytes:
        """Read a whole file, blocking."""
        ...


@dataclass(frozen=True, slots=True)
class Stored:
    """A value as it is stored: where it is, and how its bytes become the chunk.

    Attributes
    ----------
    location : ChunkLocation
        With its length known.
    nbytes : int
        Bytes of the value that the store serves.
    needed : int
        How many of them are read; the rest is padding.
    selection : Selection or None
        Which bytes of each record belong to the value.
    """

    location: ChunkLocation
    nbytes: int
    needed: int
    selection: Selection | None


class ChunkFetcher:
    """Reads the values of chunks.

    Parameters
    ----------
    rfs : Rfs
        The document: its sources and selections.
    merger : RangeMerger
        What reads ranges of files, near ones together.
    validate_sources : bool
        Whether a file must be the one that ``sources`` describes.
    prober : DefaultReader, optional
        What alone is asked for the size of a file that ``sources`` does not describe. Without it an archive
        may be asked too.
    """

    def __init__(
        self,
        rfs: Rfs,
        merger: RangeMerger,
        *,
        validate_sources: bool,
        prober: DefaultReader | None = None,
    ) -> None:
        self._merger = merger
        self._prober = prober
        self._entries: Mapping[str, SourceEntry] = (rfs.get("sources") or {}) if validate_sources else {}
        self._selections = {
            path: Selection.from_entry(entry) for path, entry in (rfs.get("selections") or {}).items()
        }
        self._described: dict[str, Source] = {}

    async def fetch(
        self,
        location: ChunkLocation,
        chunk: ChunkId | None,
        layout: ArrayLayout | None,
        start: int | None = None,
        stop: int | None = None,
    ) -> Bytes:
        """Read a value, or bytes ``start`` to ``stop`` of it, as a slice means them.

        Parameters
        ----------
        location : ChunkLocation
            Where the value is.
        chunk : ChunkId or None
            The chunk that it is; None for another value.
        layout : ArrayLayout or None
            Layout of the chunk's array.
        start, stop : int, optional
            The part that is wanted.

        Raises
        ------
        ReadError, SourceError
            When the bytes cannot be had; the message names array, chunk and file.
        """
        try:
            stored = await self._stored(location, chunk, layout)
            return await self._part(stored, *clip(stored.nbytes, start, stop))
        except (ShadowzarrError, OSError) as error:
            raise named(error, _what(location, chunk), location.url) from cause_of(error)

    async def size(self, location: ChunkLocation, chunk: ChunkId | None, layout: ArrayLayout | None) -> int:
        """Bytes of a value; reads nothing unless the document leaves the length open."""
        try:
            return (await self._stored(location, chunk, layout)).nbytes
        except (ShadowzarrError, OSError) as error:
            raise named(error, _what(location, chunk), location.url) from cause_of(error)

    async def _stored(
        self, location: ChunkLocation, chunk: ChunkId | None, layout: ArrayLayout | None
    ) -> Stored:
        length = location.length
        if length is None:
            size = (await self._describe(location.url)).size or 0
            length = max(0, size - location.offset)
            location = ChunkLocation(location.url, location.offset, length)
        selection = self._selections.get(chunk.path) if chunk else None
        available = length if selection is None else selected_length(length, selection)
        nbytes = layout.chunk_nbytes if layout else None
        if nbytes is None or chunk is None or layout is None:
            return Stored(location, available, available, selection)
        needed = layout.needed_nbytes(chunk.coordinates)
        check_length(available, nbytes, needed)
        return Stored(location, nbytes, needed, selection)

    async def _part(self, stored: Stored, start: int, stop: int) -> Bytes:
        last = max(start, min(stop, stored.needed))
        data: Bytes = b""
        if last > start:
            data = await self._read(stored, start, last)
        return data if last == stop else bytes(data).ljust(stop - start, b"\0")

    async def _read(self, stored: Stored, start: int, stop: int) -> Bytes:
        location, selection = stored.location, stored.selection
        if selection is None:
            return await self._read_range(location.url, FileRange(location.offset + start, stop - start))
        part = file_range(location.offset, start, stop, selection)
        return take(await self._read_range(location.url, part.range), part, selection)

    async def _read_range(self, url: str, part: FileRange) -> Bytes:
        return await self._merger.read(url, part, source=self._source(url))

    def _source(self, url: str) -> Source | None:
        entry = self._entries.get(url)
        return None if entry is None else Source(url, entry["size"], entry.get("etag"))

    async def _describe(self, url: str) -> Source:
        known = self._source(url) or self._described.get(url)
        if known is None:
            known = self._described[url] = await asyncio.to_thread(self._described_now, url)
        return known

    def _described_now(self, url: str) -> Source:
        if self._prober is None:
            return describe(url, url=without_query(url))  # which is not written down
        answer = self._prober.probe(url)
        return Source(url, answer.total, answer.etag)


def pad(data: bytes, chunk: ChunkId, layout: ArrayLayout) -> bytes:
    """An inline chunk at its full size.

    Raises
    ------
    ShortReadError
        When bytes are missing that lie within the array.
    """
    nbytes = layout.chunk_nbytes
    if nbytes is None or len(data) == nbytes:
        return data
    try:
        check_length(len(data), nbytes, layout.needed_nbytes(chunk.coordinates))
    except ReadError as error:
        raise ShortReadError(f"{chunk}, held in the document: {error}") from error
    return data.ljust(nbytes, b"\0")


def check_length(available: int, nbytes: int, needed: int) -> None:
    """Compare what the references list of an uncompressed chunk with what the chunk has.

    Parameters
    ----------
    available : int
        Bytes that the reference lists.
    nbytes : int
        Bytes of the whole chunk.
    needed : int
        Bytes up to the last one within the array.

    Raises
    ------
    ShortReadError
        When bytes within the array are not listed.
    InvalidReferencesError
        When more are listed than a chunk has.
    """
    if available < needed:
        raise ShortReadError(
            f"the references list {available} bytes, but {needed} of the chunk's {nbytes} bytes lie within "
            "the array; generate the references again"
        )
    if available > nbytes:
        raise InvalidReferencesError(
            f"the references list {available} bytes, but an uncompressed chunk of this array has {nbytes}; "
            "generate the references again"
        )


def _what(location: ChunkLocation, chunk: ChunkId | None) -> str:
    end = "the end" if location.length is None else location.offset + location.length
    return f"{chunk or 'a value'}, bytes {location.offset} to {end}"
