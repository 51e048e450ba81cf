"""What a document becomes in Icechunk, worked out before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UnsupportedError, UsageError
from ..formatting import format_count
from ..refs.document import Rfs
from ..refs.extension import NAME, extension_of
from ..store.chunk_table import ChunkTable, ChunkTables
from ..store.locate import ChunkId, Locator
from ..store.rfs_store import RfsStore
from ..store.split_chunks import FileSizes, split
from ..store.stored_nodes import stored_nodes
from ..store.xarray_spelling import spelled_for_xarray
from .locations import Checksum, UrlFor, checksum_of, chunk_url

_KEYS = {"name": "default", "configuration": {"separator": "/"}}
_NO_NAMES = frozenset({"", ".", ".."})
_MOST_ALONG_AN_AXIS = 2**32  # Icechunk's chunk coordinates have 32 bits


@dataclass(frozen=True)
class VirtualRun:
    """Chunks of one array in one file.

    Attributes
    ----------
    url : str
        The file.
    checksum : str, datetime or None
        What Icechunk checks of it.
    chunks : ChunkTable
        Where they are in it.
    """

    url: str
    checksum: Checksum
    chunks: ChunkTable


@dataclass(frozen=True)
class ArrayPlan:
    """The chunks of one array.

    Attributes
    ----------
    runs : list of VirtualRun
        Those that stay in files, by file.
    native : ChunkTable
        Those whose bytes are copied.
    """

    runs: Sequence[VirtualRun]
    native: ChunkTable


@dataclass(frozen=True)
class Plan:
    """All that is to be written.

    Attributes
    ----------
    nodes : dict
        Metadata documents by path, parents first.
    arrays : dict
        By path.
    store : RfsStore
        Reads the chunks that are copied.
    locator : Locator
        Names their keys.
    """

    nodes: dict[str, dict[str, Any]]
    arrays: dict[str, ArrayPlan]
    store: RfsStore
    locator: Locator

    @property
    def urls(self) -> list[str]:
        """Files that virtual chunks are in, each once."""
        return list(dict.fromkeys(run.url for array in self.arrays.values() for run in array.runs))

    @property
    def virtual(self) -> int:
        """Number of virtual chunks."""
        return sum(len(run.chunks) for array in self.arrays.values() for run in array.runs)

    @property
    def native(self) -> int:
        """Number of chunks that are copied."""
        return sum(len(array.native) for array in self.arrays.values())

    def key(self, path: str, coordinates: Sequence[int]) -> str:
        """The key of a chunk in the document."""
        return self.locator.key(ChunkId(path, tuple(coordinates)))


def make_plan(
    rfs: Rfs, *, url_for: UrlFor | None, copy_selections: bool, cf_attributes: bool = False
) -> Plan:
    """Work out what a document becomes.

    Parameters
    ----------
    rfs : Rfs
        A document from `load_rfs`.
    url_for : callable or None
        Where files are for Icechunk, by their locations in the document.
    copy_selections : bool
        Whether the data of arrays with a selection are copied.
    cf_attributes : bool, optional
        Whether attributes of CF are written as xarray reads them.

    Raises
    ------
    UnsupportedError
        When the document has what Icechunk has no counterpart for; the message names it.
    InvalidReferencesError
        When the document does not fit together.
    """
    locator = Locator(rfs)
    nodes = dict(_nodes(rfs, locator))
    if cf_attributes:
        nodes = {path: spelled_for_xarray(node) for path, node in nodes.items()}
    arrays = [path for path, node in nodes.items() if node["node_type"] == "array"]
    selected = set(rfs.get("selections") or {})
    if selected and not copy_selections:
        raise UnsupportedError(_selections_refused(sorted(selected)))
    tables = ChunkTables(rfs, locator)
    found = {path: tables.table(path) for path in arrays}
    files = _Files(rfs, tables.files, url_for)
    plans = {path: _array_plan(path, found[path], locator, files, path in selected) for path in arrays}
    extension = extension_of(rfs, files.named)
    if extension is not None:
        nodes[""] = {**nodes[""], NAME: extension}
    return Plan(nodes, plans, RfsStore(rfs, strict_json=True), locator)


def _nodes(rfs: Rfs, locator: Locator) -> Iterator[tuple[str, dict[str, Any]]]:
    """Metadata as they are stored, with keys of chunks as Icechunk knows them."""
    for path, metadata in stored_nodes(rfs, locator):
        if path and not _is_name(path):
            raise UnsupportedError(f"Icechunk takes no node that is named {'/' + path!r}")
        if metadata["node_type"] == "array":
            metadata["chunk_key_encoding"] = _KEYS
        yield path, metadata


def _is_name(path: str) -> bool:
    """Whether Icechunk takes a path: Unicode text, and no name that a file system gives a meaning."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return _NO_NAMES.isdisjoint(path.split("/"))


def _selections_refused(paths: list[str]) -> str:
    shown = ", ".join(f"/{path}" for path in paths[:5]) + (", …" if len(paths) > 5 else "")
    return (
        f"{format_count(len(paths), 'array')} cannot be virtual in Icechunk, because their bytes are "
        f"interleaved with others (selections): {shown}; nothing is written. With copy_selections=True "
        "(--copy-selections) their data are read and written into the repository"
    )


class _Files:
    """The files that chunks are in: where Icechunk finds them, their sizes, and what it checks."""

    def __init__(self, rfs: Rfs, locations: Sequence[str], url_for: UrlFor | None) -> None:
        self.locations = locations
        self._sources = rfs.get("sources") or {}
        self._url_for = url_for
        self._urls: dict[str, str] = {}
        self._checksums: dict[str, Checksum] = {}
        self.sizes = FileSizes(locations, self._sources)

    def url(self, number: int) -> str:
        return self._url(self.locations[number])

    def checksum(self, number: int) -> Checksum:
        location = self.locations[number]
        if location not in self._checksums:
            self._checksums[location] = checksum_of(self._url(location), self._sources.get(location))
        return self._checksums[location]

    def named(self, location: str) -> str:
        """What a source is called in the repository, also one that no virtual chunk is in."""
        try:
            return self._url(location)
        except UsageError:
            return location  # of no use to Icechunk, which does not read it

    def _url(self, location: str) -> str:
        if location not in self._urls:
            mapped = location if self._url_for is None else self._url_for(location)
            self._urls[location] = chunk_url(mapped)
        return self._urls[location]


def _array_plan(
    path: str, table: ChunkTable, locator: Locator, files: _Files, is_selected: bool
) -> ArrayPlan:
    if any(extent > _MOST_ALONG_AN_AXIS for extent in table.grid):
        raise UnsupportedError(
            f"array {'/' + path!r} has a chunk grid of {table.grid}; Icechunk counts up to 2**32 along an "
            "axis"
        )
    found = split(table, files.sizes, nbytes=locator.layout(path).chunk_nbytes, is_selected=is_selected)
    runs = [VirtualRun(files.url(number), files.checksum(number), part) for number, part in found.runs]
    return ArrayPlan(runs, found.held)
