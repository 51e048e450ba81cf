"""An Icechunk session → references: virtual chunks become byte ranges, native ones are copied or named.

Icechunk lists the chunks of an array as columns (`IcechunkStore.array_chunk_iterator`), which
VirtualiZarr's parser reads too; taken from there directly, metadata stay word for word as they are stored.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import icechunk
import numpy as np
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ..access.locations import canonical, is_remote
from ..errors import ReadError, UsageError
from ..refs.array_layout import ArrayLayout
from ..refs.chunk_index import CHUNK_INDEX_THRESHOLD, empty_index, is_worth_an_index
from ..refs.chunk_key import chunk_key, metadata_key
from ..refs.document import FORMAT_VERSION, IndexEntry, Reference, Rfs
from ..refs.extension import NAME, kept_parts, merged_sources
from ..refs.inline import encode_inline
from ..refs.templates import make_templates, placeholder
from ..refs.zarr_metadata import chunk_grid_shape
from .locations import UrlFor, location_of
from .nodes import joined, read_above, read_nodes

_AT_A_TIME = 64
"""Chunks that are copied at the same time."""

_VIRTUAL = int(icechunk.ChunkType.virtual)  # type: ignore[call-overload]  # its stub says Enum; it is a number
_NATIVE = int(icechunk.ChunkType.native)  # type: ignore[call-overload]


def icechunk_to_rfs(
    session: icechunk.Session,
    *,
    url_for: UrlFor | None = None,
    native_chunks_prefix: str | None = None,
    group: str | None = None,
) -> Rfs:
    """Read a reference file system out of an Icechunk session.

    Parameters
    ----------
    session : icechunk.Session
        Of any kind; what a writable one has not committed is read too.
    url_for : callable, optional
        Where a file is for a reader of references, by its location: a local path for ``file://``, and the URL
        of the virtual chunk for anything else. Needed where that is neither local, http(s) nor ``s3://``.
    native_chunks_prefix : str, optional
        Location of the repository's folder ``chunks``, to reference native chunks there rather than to copy
        them. Those that Icechunk keeps in its manifests are always copied.
    group : str, optional
        Path of the group to read; everything when left out.

    Returns
    -------
    Rfs
        With a chunk index, in memory, for each array with more than 1,000 chunks in one file.

    Raises
    ------
    UsageError
        When there is no such group, or a file is at a place that references cannot name.
    ReadError
        When a native chunk cannot be read.
    """
    root = (group or "").strip("/")
    nodes = sync(read_nodes(session.store, root))
    if "" not in nodes:
        raise UsageError(f"the repository has no node at {'/' + root!r}")
    names = _Names(url_for, native_chunks_prefix)
    reading = _Reading(session.store, root, names, is_copying=native_chunks_prefix is None)
    refs: dict[str, Reference] = {}
    indexes: dict[str, IndexEntry] = {}
    for path, node in nodes.items():
        refs[metadata_key(path)] = _dump(node)
        if node["node_type"] == "array":
            listed = sync(reading.chunks(path))
            refs.update(_references(path, node, listed, names, indexes))
    sources = merged_sources(sync(read_above(session.store, root)) | nodes)
    return _document(refs, indexes, names, sources, nodes)


class _Names:
    """Files by number, and where a reader of references finds them."""

    def __init__(self, url_for: UrlFor | None, native_chunks_prefix: str | None) -> None:
        self._url_for = url_for
        self._prefix = None if native_chunks_prefix is None else canonical(native_chunks_prefix.rstrip("/"))
        self._numbers: dict[str, int] = {}
        self._locations: dict[int, str] = {}

    def number(self, kind: int, path: str) -> int:
        """Number of the file of a chunk: a URL, or the id of a native chunk."""
        name = path if kind == _VIRTUAL else f"{self._prefix}/{path}"
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._numbers)
            self._locations[number] = self._mapped(name) if kind == _VIRTUAL else name
        return number

    def location(self, number: int) -> str:
        return self._locations[number]

    def source(self, url: str) -> str:
        """Location of a source by its URL in Icechunk, also of one that no chunk is in."""
        number = self._numbers.get(url)
        if number is not None:
            return self._locations[number]
        location = location_of(url)
        return location if self._url_for is None else self._url_for(location)

    def _mapped(self, url: str) -> str:
        location = location_of(url)
        if self._url_for is not None:
            location = self._url_for(location)
        if "://" in location and not is_remote(location):
            raise UsageError(
                f"virtual chunks are in {location}, which references cannot name; give a url_for that maps "
                "it to a local path, an http(s) or an s3:// URL"
            )
        return canonical(location)


@dataclass
class _Chunks:
    """Chunks of one array in files, as lists of columns, and those that are copied."""

    coordinates: list[Any] = field(default_factory=list)
    files: list[Any] = field(default_factory=list)
    offsets: list[Any] = field(default_factory=list)
    lengths: list[Any] = field(default_factory=list)
    copied: dict[tuple[int, ...], bytes] = field(default_factory=dict)


@dataclass
class _Reading:
    """Reads the chunks of arrays."""

    store: icechunk.IcechunkStore
    root: str
    names: _Names
    is_copying: bool

    async def chunks(self, path: str) -> _Chunks:
        found = _Chunks()
        place = joined(self.root, path)
        async for coordinates, kinds, paths, offsets, lengths, inlined in self.store.array_chunk_iterator(
            place
        ):
            for row, data in inlined.items():
                found.copied[tuple(coordinates[row].tolist())] = bytes(data)
            is_here = (kinds == _VIRTUAL) if self.is_copying else ((kinds == _VIRTUAL) | (kinds == _NATIVE))
            if self.is_copying:
                found.copied |= await self._copy(place, coordinates[kinds == _NATIVE].tolist())
            rows = np.flatnonzero(is_here).tolist()
            named = zip((kinds[is_here]).tolist(), (paths[row] for row in rows), strict=True)
            found.files.append(np.fromiter((self.names.number(*each) for each in named), np.int64, len(rows)))
            found.coordinates.append(coordinates[is_here])
            found.offsets.append(offsets[is_here])
            found.lengths.append(lengths[is_here])
        return found

    async def _copy(self, place: str, coordinates: list[list[int]]) -> dict[tuple[int, ...], bytes]:
        copied: dict[tuple[int, ...], bytes] = {}
        for start in range(0, len(coordinates), _AT_A_TIME):
            part = [tuple(each) for each in coordinates[start : start + _AT_A_TIME]]
            copied |= zip(
                part, await asyncio.gather(*[self._chunk(place, each) for each in part]), strict=True
            )
        return copied

    async def _chunk(self, place: str, coordinates: tuple[int, ...]) -> bytes:
        key = chunk_key(place, coordinates)
        try:
            data = await self.store.get(key, default_buffer_prototype())
        except icechunk.IcechunkError as error:
            reason = str(error).partition("\n")[0]
            raise ReadError(f"chunk {key!r} of the Icechunk repository cannot be read: {reason}") from error
        if data is None:
            raise ReadError(f"chunk {key!r} is listed in the Icechunk repository and is not there")
        return data.to_bytes()


def _references(
    path: str,
    node: Mapping[str, Any],
    chunks: _Chunks,
    names: _Names,
    indexes: dict[str, IndexEntry],
) -> Iterator[tuple[str, Reference]]:
    """References to the chunks of an array; a chunk index is put with the others when it is worth one."""
    layout = ArrayLayout.from_metadata(node, path)
    key_of = _keys(path, layout)
    for place, data in sorted(chunks.copied.items()):
        yield key_of(place), encode_inline(data)
    if not chunks.files:
        return
    parts = (chunks.coordinates, chunks.files, chunks.offsets, chunks.lengths)
    coordinates, files, offsets, lengths = (np.concatenate(part) for part in parts)
    numbers, counts = np.unique(files, return_counts=True)
    if layout.chunk_shape is not None and len(counts) and counts.max() > CHUNK_INDEX_THRESHOLD:
        grid = chunk_grid_shape(layout.shape, layout.chunk_shape)
        most = int(numbers[counts.argmax()])
        here = files == most
        if is_worth_an_index(grid, int(counts.max())):
            index = empty_index(grid)
            places = tuple(coordinates[here].T)
            index[(*places, 0)], index[(*places, 1)] = offsets[here], lengths[here]
            indexes[path] = {"url": names.location(most), "index": index}
            coordinates, files, offsets, lengths = (
                column[~here] for column in (coordinates, files, offsets, lengths)
            )
    order = np.lexsort(coordinates.T[::-1]) if coordinates.shape[1] else slice(None)
    columns = (column[order].tolist() for column in (coordinates, files, offsets, lengths))
    for place, file, offset, length in zip(*columns, strict=True):
        yield key_of(tuple(place)), [names.location(file), offset, length]


def _keys(path: str, layout: ArrayLayout) -> Callable[[tuple[int, ...]], str]:
    prefix = f"{path}/" if path else ""
    return lambda coordinates: prefix + layout.tail(coordinates)


def _document(
    refs: dict[str, Reference],
    indexes: dict[str, IndexEntry],
    names: _Names,
    sources: Mapping[str, Any],
    nodes: Mapping[str, Mapping[str, Any]],
) -> Rfs:
    templates = make_templates(
        value[0] for key, value in refs.items() if isinstance(value, list) and len(value) == 3
    )
    short = {url: placeholder(name) for name, url in templates.items()}
    rfs: Rfs = {"version": 2 if indexes else 1, "format": FORMAT_VERSION, "refs": {}}
    if indexes:
        rfs["requires"] = ["indexes"]
    if templates:
        rfs["templates"] = templates
    rfs["refs"] = {
        key: value if isinstance(value, str) else [short[value[0]], *value[1:]] for key, value in refs.items()
    }
    if indexes:
        rfs["indexes"] = indexes
    if sources:
        rfs["sources"] = {names.source(url): entry for url, entry in sources.items()}
    for part in ("skipped", "converted"):
        entries = [
            entry for path, node in nodes.items() for entry in _below(path, kept_parts(node).get(part))
        ]
        if entries:
            rfs[part] = entries  # type: ignore[typeddict-item]
    hdf5 = kept_parts(nodes[""]).get("hdf5")
    if hdf5:
        rfs["hdf5"] = hdf5
    return rfs


def _below(path: str, entries: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Entries of a group as a group above it has them."""
    if not path or not entries:
        return entries or []
    return [{**entry, "path": f"/{path}/{str(entry['path']).lstrip('/')}"} for entry in entries]


def _dump(node: Mapping[str, Any]) -> str:
    plain = {name: value for name, value in node.items() if name not in (NAME, "consolidated_metadata")}
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
