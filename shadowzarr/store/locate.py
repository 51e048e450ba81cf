"""Key → inline value, location, or nothing. Never fetches data.

Explicit references win over gen entries, and gen entries over chunk indexes. Whether an index lists
a chunk needs the index array, which `index_reader` reads; here such a key is answered by the array
and coordinates to look up. Nothing here expands a table: a gen entry is evaluated for the one chunk
that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import InvalidReferencesError
from ..refs import gen
from ..refs.array_layout import ArrayLayout
from ..refs.byte_range import ChunkLocation
from ..refs.chunk_key import METADATA_NAME, metadata_key, parse_chunk_key
from ..refs.document import GenEntry, Reference, Rfs
from ..refs.inline import decode_inline
from ..refs.node_checks import parse_node
from ..refs.templates import expand
from .key_tree import KeyTree

V2_NAMES = frozenset({".zarray", ".zattrs", ".zgroup", ".zmetadata"})
"""Last parts of the metadata keys of Zarr v2, which zarr asks for beside ``zarr.json``."""

_METADATA_NAMES = V2_NAMES | {METADATA_NAME}


@dataclass(frozen=True, slots=True)
class ChunkId:
    """One chunk of one array; ``path`` has no leading slash."""

    path: str
    coordinates: tuple[int, ...]

    def __str__(self) -> str:
        return f"chunk {self.coordinates} of array {'/' + self.path!r}"


@dataclass(frozen=True, slots=True)
class Found:
    """Where a key's value is.

    Attributes
    ----------
    chunk : ChunkId or None
        The chunk that the key names; None for any other key.
    inline : bytes or None
        The value, when the document holds it.
    location : ChunkLocation or None
        Where it is in a file.
    is_indexed : bool
        Whether the array's chunk index must be asked; then neither of the other two is known.
    """

    chunk: ChunkId | None
    inline: bytes | None = None
    location: ChunkLocation | None = None
    is_indexed: bool = False


class Locator:
    """Finds keys in a document.

    Parameters
    ----------
    rfs : Rfs
        The document; it is not copied and must not change.
    """

    def __init__(self, rfs: Rfs) -> None:
        self.refs = rfs["refs"]
        self._templates = rfs.get("templates") or {}
        self._indexes = rfs.get("indexes") or {}
        self._gen: dict[str, list[GenEntry]] = {}
        for entry in rfs.get("gen") or ():
            self._gen.setdefault(gen.array_path(entry), []).append(entry)
        self._layouts: dict[str, ArrayLayout | None] = {}
        self._well_spelled: set[str] = set()
        self._tree: KeyTree | None = None

    def find(self, key: str) -> Found | None:
        """Find a key.

        Returns
        -------
        Found or None
            None when the document does not list the key.

        Raises
        ------
        InvalidReferencesError
            When what the document says about the key cannot be understood.
        """
        value = self.refs.get(key)
        if value is not None:
            return self._explicit(key, value)
        if key.rpartition("/")[2] in _METADATA_NAMES:
            return None
        chunk = self.chunk_of(key)
        return None if chunk is None else self._computed(chunk)

    def own_key(self, key: str) -> str:
        """A key as the document spells it: zarr asks for names with backslashes with slashes instead."""
        path = key if self.renamed else ""
        while path and metadata_key(path) not in self.refs:
            if path in self.renamed:
                return self.renamed[path] + key[len(path) :]
            path = path.rpartition("/")[0]
        return key

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Paths of nodes with backslashes in their names, by what zarr makes of them."""
        suffix = f"/{METADATA_NAME}"
        paths = [key.removesuffix(suffix) for key in self.refs if "\\" in key and key.endswith(suffix)]
        return {path.replace("\\", "/"): path for path in paths}

    def chunk_of(self, key: str) -> ChunkId | None:
        """The chunk of one of the document's arrays that a key names, listed or not."""
        path, _, tail = key.rpartition("/")
        while metadata_key(path) not in self.refs:
            if not path:
                return None
            path, _, part = path.rpartition("/")
            tail = f"{part}/{tail}"
        layout = self._layout(path)
        coordinates = None if layout is None else layout.coordinates(tail)
        return None if coordinates is None else ChunkId(path, coordinates)

    def layout(self, path: str) -> ArrayLayout:
        """How an array's chunks are cut and named.

        Raises
        ------
        InvalidReferencesError
            When the document has no such array.
        """
        layout = self._layout(path)
        if layout is None:
            raise InvalidReferencesError(f"{path!r} is a group; the document treats it as an array")
        return layout

    def key(self, chunk: ChunkId) -> str:
        """The key of a chunk."""
        tail = self.layout(chunk.path).tail(chunk.coordinates)
        return f"{chunk.path}/{tail}" if chunk.path else tail

    def metadata(self, key: str) -> dict[str, Any]:
        """A metadata document, parsed; NaN may be a bare word in it.

        Raises
        ------
        InvalidReferencesError
            When it is missing, not inline, or no JSON object.
        """
        value = self.refs.get(key)
        if not isinstance(value, str):
            found = "is missing" if value is None else "is a reference to a file"
            raise InvalidReferencesError(f"refs[{key!r}] {found}; metadata is expected in the document")
        return parse_node(decode_inline(value), key)

    def generated(self, path: str) -> Iterator[ChunkId]:
        """The chunks of an array that gen entries give and ``refs`` does not list."""
        entries = self._gen.get(path, ())
        for number, entry in enumerate(entries):
            for key, _ in gen.expand(entry, self._templates):
                parsed = parse_chunk_key(key)
                chunk = ChunkId(path, parsed[1] if parsed else ())
                if not self.is_explicit(chunk) and not self._reached(entries[:number], chunk):
                    yield chunk

    def is_generated(self, chunk: ChunkId) -> bool:
        """Whether a gen entry gives a chunk."""
        return self._reached(self._gen.get(chunk.path, ()), chunk) is not None

    def is_indexed(self, path: str) -> bool:
        """Whether an array has a chunk index."""
        return path in self._indexes

    def is_explicit(self, chunk: ChunkId) -> bool:
        """Whether ``refs`` lists a chunk."""
        return self.key(chunk) in self.refs

    @property
    def tree(self) -> KeyTree:
        """The keys of ``refs`` as a tree, made when it is first asked for."""
        if self._tree is None:
            self._tree = KeyTree(self.refs)
        return self._tree

    @property
    def computed_paths(self) -> list[str]:
        """Paths of the arrays that have gen entries or a chunk index, in the document's order."""
        return list(dict.fromkeys([*self._gen, *self._indexes]))

    def _explicit(self, key: str, value: Reference) -> Found:
        if isinstance(value, str) and key.endswith(METADATA_NAME):
            return Found(None, inline=decode_inline(value))
        chunk = self.chunk_of(key)
        if isinstance(value, str):
            return Found(chunk, inline=decode_inline(value))
        match value:
            case [str(url)]:
                return Found(chunk, location=ChunkLocation(self._expand(url)))
            case [str(url), int(offset), int(length)] if offset >= 0 and length >= 0:
                return Found(chunk, location=ChunkLocation(self._expand(url), offset, length))
        raise InvalidReferencesError(
            f"refs[{key!r}] is {str(value)[:80]}; expected text, [url] or [url, offset, size]"
        )

    def _computed(self, chunk: ChunkId) -> Found | None:
        location = self._reached(self._gen.get(chunk.path, ()), chunk)
        if location is not None:
            return Found(chunk, location=location)
        self._check_spelling(chunk.path)
        return Found(chunk, is_indexed=True) if chunk.path in self._indexes else None

    def _reached(self, entries: Sequence[GenEntry], chunk: ChunkId) -> ChunkLocation | None:
        for entry in entries:
            location = gen.location_at(entry, self._templates, chunk.coordinates)
            if location is not None:
                return location
        return None

    def _expand(self, url: str) -> str:
        return expand(url, self._templates) if self._templates else url

    def _layout(self, path: str) -> ArrayLayout | None:
        if path not in self._layouts:
            metadata = self.metadata(metadata_key(path))
            is_array = metadata.get("node_type") == "array"
            self._layouts[path] = ArrayLayout.from_metadata(metadata, path) if is_array else None
        return self._layouts[path]

    def _check_spelling(self, path: str) -> None:
        """Refuse keys and rules below an array that are not spelled as its chunks are.

        Such a chunk is listed but would never be found, and zarr would show fill values for it.
        """
        if path in self._well_spelled:
            return
        prefix = f"{path}/" if path else ""
        layout = self.layout(path)
        for entry in self._gen.get(path, ()):
            if gen.ndim(entry) != len(layout.shape):
                raise InvalidReferencesError(
                    f"gen entry {entry['key']!r} is for {gen.ndim(entry)} axes; array {'/' + path!r} has "
                    f"{len(layout.shape)}"
                )
        for key in self.tree.keys(path):
            if key.rpartition("/")[2] in _METADATA_NAMES:
                continue
            if layout.coordinates(key[len(prefix) :]) is None:
                raise InvalidReferencesError(
                    f"refs[{key!r}] is no chunk of array {'/' + path!r}, whose keys look like "
                    f"{self.key(ChunkId(path, (0,) * len(layout.shape)))!r}"
                )
        self._well_spelled.add(path)
