"""RfsStore: zarr's store interface over a reference file system. Key in, buffer out.

What a key means is found by `locate`, index arrays are read by `index_reader`, bytes by `fetch_chunk`
and metadata is made by `served_metadata`; listing is the subject of `listing`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from zarr.abc.store import Store

from ..access.allowed_places import LocalRoots, real_roots
from ..access.locations import is_remote
from ..access.merging import MAX_MERGE_SIZE, MERGE_BELOW, MERGE_GAP, RangeCache, RangeMerger
from ..access.range_reader import DefaultReader, restricted
from ..description import describe_document
from ..errors import InvalidReferencesError
from ..notebook import titled
from ..refs.byte_range import ChunkLocation
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import Rfs
from .byte_requests import bounds
from .chunk_parts import Bytes, Part
from .document_digest import document_digest
from .fetch_chunk import ChunkFetcher, FileReader, pad
from .held_sizes import HeldChunks
from .index_reader import IndexReader
from .listing import Listing
from .load_rfs import folder_of_document, load_rfs
from .locate import ChunkId, Found, Locator
from .look_ahead import UNKNOWN_LENGTH, LookAhead
from .served_metadata import ServedMetadata
from .store_options import SHOWN_OPTIONS, StoreOptions

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype
    from zarr.core.group import GroupMetadata
    from zarr.core.metadata.v3 import ArrayV3Metadata


class RfsStore(Store):
    """A read-only zarr store over a reference file system.

    Only a chunk that the references do not list is absent (zarr then shows the fill value); whatever
    cannot be read is an error. The store may be pickled, copied, and used by many threads and event
    loops at once.

    Parameters
    ----------
    rfs : Rfs, str or path
        References from `load_rfs` or a generator, which are not copied; do not change them afterwards.
        Anything else is given to `load_rfs`.
    validate_sources : bool, optional
        Whether files must be those that were indexed (`SourceChangedError`): remote ones by ETag and
        size, local ones by size.
    strict_json : bool, optional
        Serve ``zarr.json`` as the document stores it, for readers that refuse bare NaN. hdmf-zarr
        0.14 then takes such numbers for text, and zarr-python reads whole chunks.
    cf_attributes : bool, optional
        Serve ``_FillValue`` of arrays whose axes have names, as NetCDF files have them, in the form in which
        xarray reads it, floating-point numbers in base64, and ``scale_factor``, ``add_offset`` and
        ``missing_value`` as numbers, not lists of one. As they are stored xarray refuses the file, or makes
        objects of its values. Attributes by which HDF5 attaches dimension scales are left away, and arrays
        that stand for a dimension without values are not listed. `open_rfs` serves what is stored.
    phony_dims : bool, optional
        Give names to axes that have none, as h5netcdf does with ``phony_dims="sort"``, so that xarray opens
        NWB files too: it refuses groups with such an array. Not with `strict_json`.
    local_cache : LocalCache, optional
        Keeps ranges of remote files between sessions. Needs their ETags in the document, and
        `validate_sources`.
    merge_gap, max_merge_size, merge_below : int, optional
        Near reads of small chunks share a request: largest gap between them, largest request (0
        turns merging off), and largest chunk, in bytes.
    reader : optional
        What reads files; the process's own reader by default.
    allow_local_files : bool, optional
        As for `load_rfs`, when a document is named: whether one that comes over the network may name files
        of this machine.
    local_roots : iterable of path, optional
        Folders below which local files are read, symbolic links followed; anywhere by default. Index
        arrays in the folder of a document that is named are read all the same.
    allow_private : bool, optional
        Whether hosts with internal addresses may be read: loopback, private, link-local and the like. The
        address is looked at for every connection, those of redirects too.

    Raises
    ------
    InvalidReferencesError
        When an entry of the document cannot be understood.
    ReadError
        When a document that is named cannot be read.
    RefusedPlaceError
        When a document that is named may not name what it does.
    UsageError
        When `local_roots` or `allow_private` are given with a reader that cannot be restricted.
    """

    supports_writes = False
    supports_deletes = False
    supports_listing = True

    def __init__(
        self,
        rfs: Rfs | str | os.PathLike[str],
        *,
        validate_sources: bool = True,
        strict_json: bool = False,
        cf_attributes: bool = True,
        phony_dims: bool = False,
        local_cache: RangeCache | None = None,
        merge_gap: int = MERGE_GAP,
        max_merge_size: int = MAX_MERGE_SIZE,
        merge_below: int = MERGE_BELOW,
        reader: FileReader | None = None,
        allow_local_files: bool = False,
        local_roots: LocalRoots | None = None,
        allow_private: bool = True,
    ) -> None:
        roots = index_roots = real_roots(local_roots)
        super().__init__(read_only=True)
        if not isinstance(rfs, Mapping) or "refs" not in rfs:
            if roots is not None and not isinstance(rfs, Mapping):
                index_roots = _with_folder(roots, folder_of_document(rfs))
            rfs = load_rfs(
                rfs,
                reader=reader,
                allow_local_files=allow_local_files,
                local_roots=roots,
                allow_private=allow_private,
            )
        self._rfs = rfs
        self._options: StoreOptions = {
            "validate_sources": validate_sources,
            "strict_json": strict_json,
            "cf_attributes": cf_attributes,
            "phony_dims": phony_dims,
            "local_cache": local_cache,
            "merge_gap": merge_gap,
            "max_merge_size": max_merge_size,
            "merge_below": merge_below,
            "reader": reader,
            "allow_local_files": allow_local_files,
            "local_roots": roots,
            "allow_private": allow_private,
        }
        files = restricted(reader, allow_private=allow_private, local_roots=roots)
        self._locator = Locator(rfs)
        self._metadata = ServedMetadata(
            self._locator, strict_json=strict_json, cf_attributes=cf_attributes, phony_dims=phony_dims
        )
        self._held = HeldChunks(self._locator.metadata)
        self._read_indexes(index_roots)
        merger = RangeMerger(
            files,
            merge_gap=merge_gap,
            max_merge_size=max_merge_size,
            merge_below=merge_below,
            cache=local_cache,
        )
        is_restricted = roots is not None or not allow_private
        self._fetcher = ChunkFetcher(
            rfs,
            merger,
            validate_sources=validate_sources,
            prober=files if is_restricted and isinstance(files, DefaultReader) else None,
        )
        self._ahead = LookAhead(self._chunk_of, self._locator.layout, self._read_ahead, small=merge_below)
        self._name: str | None = None

    @property
    def rfs(self) -> Rfs:
        """The document; do not change it."""
        return self._rfs

    def __str__(self) -> str:
        """A name that is the same for the same document, in any process."""
        if self._name is None:
            self._name = f"shadowzarr://{document_digest(self._rfs)}"
        return self._name

    def __repr__(self) -> str:
        return f"RfsStore({str(self)!r})"

    def _repr_html_(self) -> str:
        return titled(repr(self), describe_document(self._rfs)._repr_html_())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RfsStore):
            return False
        if any(self._options.get(name) != other._options.get(name) for name in SHOWN_OPTIONS):
            return False
        return self._rfs is other._rfs or str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._rfs, self._options, self._index_roots)

    def root_metadata(self) -> ArrayV3Metadata | GroupMetadata:
        """The metadata of the root, without those of the nodes below it.

        Raises
        ------
        InvalidReferencesError
            When there are none, or zarr does not understand them.
        """
        return self._metadata.node(METADATA_NAME)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The value of a key, or a part of it; None when the document does not list the key.

        Raises
        ------
        ReadError, SourceError
            When the value is listed and cannot be read.
        """
        part = Part(*bounds(byte_range))
        self._is_open = True  # there is nothing to open, and other threads may be here too
        plan = self._ahead.plan(key)
        if plan is not None and (data := await plan.take(key, part)) is not None:
            return prototype.buffer.from_bytes(data)
        found = await self._find(key)
        if found is None:
            return None
        if found.inline is not None:
            return prototype.buffer.from_bytes(self._inline(found)[part.start : part.stop])
        reading = self._fetch(found, part)
        data = await (reading if plan is None else plan.read(key, found, part, reading))
        return prototype.buffer.from_bytes(data)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """The values, or parts of values, of several keys, read at the same time."""
        reads = [self.get(key, prototype, byte_range) for key, byte_range in key_ranges]
        return list(await asyncio.gather(*reads))

    async def exists(self, key: str) -> bool:
        """Whether the document lists a key; reads nothing but the chunk index where there is one."""
        is_held = self._locator.own_key(key) in self._locator.refs
        return is_held or await self._find(key) is not None

    async def getsize(self, key: str) -> int:
        """Bytes of a value, without reading it.

        Raises
        ------
        FileNotFoundError
            When the document does not list the key.
        """
        found = await self._find(key)
        if found is None:
            raise FileNotFoundError(key)
        if found.inline is not None:
            return len(self._inline(found))
        return await self._size(found)

    async def list(self) -> AsyncIterator[str]:
        """Every key; chunks of a chunk index are read and given one index chunk at a time."""
        async for key in self._listing.keys(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Every key that begins with ``prefix``."""
        async for key in self._listing.keys(self._locator.own_key(prefix)):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Names directly below ``prefix``, in the document's order; not those that `cf_attributes` hides."""
        folder = self._locator.own_key(prefix.rstrip("/"))
        async for name in self._listing.names(folder):
            path = f"{folder}/{name}" if folder else name
            if not self._metadata.is_hidden(f"{path}/{METADATA_NAME}"):
                yield name

    async def set(self, key: str, value: Buffer) -> None:
        """Refused: references are read-only."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Refused: references are read-only."""
        self._check_writable()

    def _read_indexes(self, roots: tuple[str, ...] | None) -> None:
        """Look chunks up in index arrays that are below these folders, if they are files of this machine."""
        reader = self._options["reader"]
        files = restricted(reader, allow_private=self._options["allow_private"], local_roots=roots)
        self._index_roots = roots
        self._index = IndexReader(self._rfs, self._locator.layout, files)
        self._listing = Listing(self._locator, self._index)

    async def _find(self, key: str) -> Found | None:
        key = self._locator.own_key(key)
        if key.endswith(METADATA_NAME) and (data := self._metadata.get(key)) is not None:
            return Found(None, inline=data)
        found = self._locator.find(key)
        if found is None or not found.is_indexed or found.chunk is None:
            return found
        location = await self._index.location(found.chunk)
        return None if location is None else Found(found.chunk, location=location)

    def _inline(self, found: Found) -> bytes:
        data = found.inline or b""
        if found.chunk is None:
            return data
        self._held.check(data, found.chunk)
        return pad(data, found.chunk, self._locator.layout(found.chunk.path))

    async def _fetch(self, found: Found, part: Part) -> Bytes:
        layout = self._locator.layout(found.chunk.path) if found.chunk else None
        return await self._fetcher.fetch(_location(found), found.chunk, layout, part.start, part.stop)

    async def _read_ahead(self, key: str, part: Part, located: Callable[[int], None]) -> Bytes | None:
        """Part of a chunk of a remote file; None for any other, which costs no round trip."""
        found = await self._find(key)
        location = None if found is None else found.location
        if found is None or location is None or not is_remote(location.url):
            located(0)
            return None
        located(part.nbytes(location.length or UNKNOWN_LENGTH))
        return await self._fetch(found, part)

    def _chunk_of(self, key: str) -> ChunkId | None:
        return self._locator.chunk_of(self._locator.own_key(key))

    async def _size(self, found: Found) -> int:
        layout = self._locator.layout(found.chunk.path) if found.chunk else None
        return await self._fetcher.size(_location(found), found.chunk, layout)


def _restore(rfs: Rfs, options: StoreOptions, index_roots: tuple[str, ...] | None = None) -> RfsStore:
    store = RfsStore(rfs, **options)
    if index_roots is not None:
        store._read_indexes(index_roots)
    return store


def _with_folder(roots: tuple[str, ...], folder: str) -> tuple[str, ...]:
    """The roots, and a document's own folder if that is on this machine."""
    return roots if is_remote(folder) else (*roots, os.path.realpath(folder))


def _location(found: Found) -> ChunkLocation:
    if found.location is None:
        raise InvalidReferencesError(f"{found.chunk} has neither a value nor a location")
    return found.location
