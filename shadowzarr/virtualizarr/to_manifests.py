"""rfs_to_manifest_store: references → what VirtualiZarr's writers and xarray take."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from obspec_utils.registry import ObjectStoreRegistry
from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore
from virtualizarr.manifests.manifest import INLINED_CHUNK_PATH
from zarr.core.buffer import default_buffer_prototype
from zarr.core.metadata.v3 import ArrayV3Metadata
from zarr.core.sync import sync

from ..errors import InvalidReferencesError, UnsupportedError
from ..formatting import format_count
from ..refs.document import Rfs
from ..store.chunk_table import ChunkTables
from ..store.load_rfs import load_rfs
from ..store.locate import ChunkId, Locator
from ..store.rfs_store import RfsStore
from ..store.split_chunks import FileSizes, SplitChunks, split
from ..store.stored_nodes import stored_nodes
from ..store.xarray_spelling import spelled_for_xarray
from .locations import UrlFor, manifest_path
from .registry import registry_for

_LARGEST_GRID = 2**27
"""Places of a chunk grid above which no manifest is made: it takes 32 bytes and a path for each."""

_AT_A_TIME = 64
"""Chunks that are read at the same time."""

_KEYS = {"name": "default", "configuration": {"separator": "/"}}


def rfs_to_manifest_store(
    refs: str | os.PathLike[str] | Mapping[str, Any],
    *,
    registry: ObjectStoreRegistry[Any] | None = None,
    url_for: UrlFor | None = None,
    copy_selections: bool = False,
) -> ManifestStore:
    """Make references a manifest store of VirtualiZarr.

    ``store.to_virtual_dataset()`` opens it in xarray, where arrays need dimension names; VirtualiZarr's
    writers make kerchunk's references or an Icechunk repository of that.

    Parameters
    ----------
    refs : str, path or mapping
        As for `load_rfs`.
    registry : obspec_utils.registry.ObjectStoreRegistry, optional
        What VirtualiZarr reads files by; one for the files that are named, with the credentials of the
        ``AWS_`` variables, when it is left out.
    url_for : callable, optional
        Where a file is for VirtualiZarr, by its location in the document.
    copy_selections : bool, optional
        Read the data of arrays with a selection and hold them in the manifests.

    Returns
    -------
    virtualizarr.manifests.ManifestStore
        Metadata are as they are stored, but for ``_FillValue``, which is spelled as xarray and VirtualiZarr
        do. Chunks that the document holds, and uncompressed ones that are shorter in their file than a
        whole one, are held by the manifests. ETags, ``skipped``, ``converted`` and ``hdf5`` have no place
        there.

    Raises
    ------
    UnsupportedError
        When the document has what manifests cannot hold; the message names it.
    InvalidReferencesError
        When the document does not fit together.
    SourceChangedError, ReadError
        When a chunk that is to be held cannot be read.
    """
    rfs = load_rfs(refs)
    selected = set(rfs.get("selections") or {})
    if selected and not copy_selections:
        raise UnsupportedError(_selections_refused(sorted(selected)))
    making = _Making(rfs, url_for, selected)
    group = making.group()
    return ManifestStore(group, registry=registry or registry_for(making.urls.values()))


def _selections_refused(paths: list[str]) -> str:
    shown = ", ".join(f"/{path}" for path in paths[:5]) + (", …" if len(paths) > 5 else "")
    return (
        f"{format_count(len(paths), 'array')} cannot be in a manifest, because their bytes are interleaved "
        f"with others (selections): {shown}. With copy_selections=True their data are read and held"
    )


@dataclass
class _Node:
    """A group that is being made."""

    attributes: dict[str, Any]
    arrays: dict[str, ManifestArray]
    groups: dict[str, str]


class _Making:
    """Makes the tree of one document."""

    def __init__(self, rfs: Rfs, url_for: UrlFor | None, selected: set[str]) -> None:
        self._rfs = rfs
        self._locator = Locator(rfs)
        self._store = RfsStore(rfs, strict_json=True)
        self._tables = ChunkTables(rfs, self._locator)
        self._url_for = url_for
        self._selected = selected
        self.urls: dict[int, str] = {}

    def group(self) -> ManifestGroup:
        nodes: dict[str, _Node] = {}
        for path, document in stored_nodes(self._rfs, self._locator):
            self._add(path, document, nodes)
        return _built("", nodes)

    def _add(self, path: str, document: dict[str, Any], nodes: dict[str, _Node]) -> None:
        parent, _, name = path.rpartition("/")
        if not path and document["node_type"] != "group":
            raise UnsupportedError(
                "the root of the references is an array; a manifest store begins with a group"
            )
        if path and parent not in nodes:
            raise InvalidReferencesError(
                f"the references have {path!r} and no group {'/' + parent!r} above it"
            )
        if document["node_type"] == "array":
            nodes[parent].arrays[name] = self._array(path, document)
            return
        nodes[path] = _Node(dict(document.get("attributes") or {}), {}, {})
        if path:
            nodes[parent].groups[name] = path

    def _array(self, path: str, document: dict[str, Any]) -> ManifestArray:
        layout = self._locator.layout(path)
        if layout.chunk_shape is None:
            raise UnsupportedError(f"array {'/' + path!r} has no regular chunk grid, which manifests need")
        table = self._tables.table(path)
        if math.prod(table.grid) > _LARGEST_GRID:
            raise UnsupportedError(
                f"array {'/' + path!r} has a chunk grid of {table.grid}; a manifest would take an "
                "entry for each place"
            )
        sizes = FileSizes(self._tables.files, self._rfs.get("sources") or {})
        chunks = split(table, sizes, nbytes=layout.chunk_nbytes, is_selected=path in self._selected)
        metadata = ArrayV3Metadata.from_dict(spelled_for_xarray({**document, "chunk_key_encoding": _KEYS}))
        return ManifestArray(metadata, self._manifest(path, chunks, table.grid))

    def _manifest(self, path: str, chunks: SplitChunks, grid: tuple[int, ...]) -> ChunkManifest:
        count = math.prod(grid)
        paths: Any = np.full(count, "", np.dtypes.StringDType())
        offsets, lengths = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
        for number, part in chunks.runs:
            at = part.positions
            paths[at], offsets[at], lengths[at] = self._url(number), part.offsets, part.lengths
        held = [tuple(at) for at in chunks.held.coordinates.tolist()]
        data = sync(self._read(path, held))
        if held:
            at = chunks.held.positions
            paths[at], lengths[at] = INLINED_CHUNK_PATH, [len(each) for each in data]
        return ChunkManifest.from_arrays(
            paths=paths.reshape(grid),
            offsets=offsets.reshape(grid),
            lengths=lengths.reshape(grid),
            validate_paths=False,
            inlined=dict(zip(held, data, strict=True)),
        )

    def _url(self, number: int) -> str:
        if number not in self.urls:
            self.urls[number] = manifest_path(self._tables.files[number], self._url_for)
        return self.urls[number]

    async def _read(self, path: str, places: list[tuple[int, ...]]) -> list[bytes]:
        found: list[bytes] = []
        for start in range(0, len(places), _AT_A_TIME):
            part = places[start : start + _AT_A_TIME]
            found += await asyncio.gather(*[self._chunk(path, at) for at in part])
        return found

    async def _chunk(self, path: str, at: tuple[int, ...]) -> bytes:
        data = await self._store.get(self._locator.key(ChunkId(path, at)), default_buffer_prototype())
        if data is None:
            raise InvalidReferencesError(f"chunk {at} of array {'/' + path!r} is gone from the references")
        return data.to_bytes()


def _built(path: str, nodes: Mapping[str, _Node]) -> ManifestGroup:
    node = nodes[path]
    groups = {name: _built(place, nodes) for name, place in node.groups.items()}
    return ManifestGroup(arrays=node.arrays, groups=groups, attributes=node.attributes)
