"""The references, as a user of zarr sees them, and as they stand in the document.

Values and listings come through the public store and zarr, like anybody's. The metadata documents are read
as they are stored besides, because a reader does not see whether they are strict JSON and how their
attributes are encoded.
"""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zarr
from zarr.core.sync import sync

from ..access.locations import canonical
from ..attributes import decode_attributes
from ..refs.document import Rfs, SkippedEntry
from ..store.load_rfs import load_rfs
from ..store.locate import ChunkId, Locator
from ..store.open_rfs import open_loaded
from .stored_attributes import Decoded, decode, strict_json
from .tally import Tally, printable

MOST_LINKS = 40
"""How many links a path may lead through; more is a circle."""


@dataclass(frozen=True)
class Link:
    """One entry of ``_LINKS``."""

    name: str
    source: str
    path: str


@dataclass(frozen=True)
class Node:
    """One ``zarr.json`` of the document.

    Attributes
    ----------
    metadata : dict
        Parsed; empty when it is no JSON object.
    attributes : Decoded
        Of the stored attributes.
    """

    metadata: dict[str, Any]
    attributes: Decoded

    @property
    def is_array(self) -> bool:
        """Whether the node says that it is an array."""
        return self.metadata.get("node_type") == "array"


class References:
    """A reference file system, opened.

    Parameters
    ----------
    rfs : Rfs
        The loaded document.
    root : zarr.Group
        The same, opened with zarr.
    tally : Tally
        Gets what is wrong with the document itself.
    """

    def __init__(self, rfs: Rfs, root: zarr.Group, tally: Tally) -> None:
        self.rfs = rfs
        self.root = root
        self._tally = tally
        self._locator = Locator(rfs)
        self._sources = frozenset(rfs.get("sources", {}))
        self.nodes = {path: self._node(path, text) for path, text in _documents(rfs).items()}
        self._children = _children(self.nodes)
        self._links = {path: dict(self._read_links(path, node)) for path, node in self.nodes.items()}
        self.skipped = _Skipped(rfs.get("skipped", []))

    def _node(self, path: str, text: str) -> Node:
        nothing = Decoded({}, 0, 0, "")
        try:
            metadata = strict_json(text)
            attributes = decode(metadata.get("attributes", {}))
        except (ValueError, AttributeError, TypeError) as error:
            self._tally.differ(path, "strict JSON", "a strict JSON document", str(error))
            return Node(_lenient(text), nothing)
        if attributes.complaint:
            self._tally.differ(path, "zarr_conventions", "what the attributes need", attributes.complaint)
        return Node(metadata, attributes)

    def _read_links(self, path: str, node: Node) -> dict[str, Link]:
        entries = node.attributes.values.get("_LINKS", [])
        links: dict[str, Link] = {}
        for entry in entries if isinstance(entries, list) else [entries]:
            if not _is_link(entry) or entry["name"] in links:
                self._tally.differ(path, "_LINKS", "objects of name, source and path, each name once", entry)
                continue
            links[entry["name"]] = Link(**entry)
        return links

    def children(self, path: str) -> set[str]:
        """Names of the nodes in a group, in the document."""
        return self._children.get(path, set())

    def links(self, path: str) -> Mapping[str, Link]:
        """Entries of a group's ``_LINKS``, by name."""
        return self._links.get(path, {})

    def listed(self, path: str) -> set[str]:
        """Names of the nodes in a group, as the store lists them."""
        names = sync(_gather(self.root.store.list_dir(path)))
        return {name for name in names if join(path, name) in self.nodes}

    def open(self, path: str) -> zarr.Group | zarr.Array[Any]:
        """A node, opened with zarr; raises whatever zarr and the store raise."""
        return self.root[path] if path else self.root

    def is_in_place(self, path: str, coordinates: tuple[int, ...]) -> bool:
        """Whether the values of a chunk are read from a source, and neither held here nor left out."""
        chunk = ChunkId(path, coordinates)
        found = self._locator.find(self._locator.key(chunk))
        if found is None or found.inline is not None:
            return False
        if found.location is not None:
            return found.location.url in self._sources
        url = self.rfs["indexes"][path]["url"]
        return url in self._sources and bool(sync(self.root.store.exists(self._locator.key(chunk))))

    def served_attributes(self, path: str) -> dict[str, Any]:
        """Attributes as a user of zarr gets them, decoded with the public function."""
        return decode_attributes(dict(self.open(path).attrs))

    def resolve(self, path: str) -> str | None:
        """The node that a path leads to, through links if need be; None when it leads nowhere."""
        return self._resolve(path, MOST_LINKS)

    def _resolve(self, path: str, links_left: int) -> str | None:
        at = ""
        parts = [part for part in path.split("/") if part]
        for number, part in enumerate(parts):
            if part in self.children(at):
                at = join(at, part)
                continue
            link = self.links(at).get(part)
            if link is None or link.source != "." or not links_left:
                return None
            return self._resolve("/".join([link.path, *parts[number + 1 :]]), links_left - 1)
        return at if at in self.nodes else None


class _Skipped:
    """What the document says it leaves out, and which of it the comparison came upon."""

    def __init__(self, entries: list[SkippedEntry]) -> None:
        self._objects = {plain_path(e["path"]): e for e in entries if e["kind"] != "attribute"}
        self._attributes = {plain_path(e["path"]): e for e in entries if e["kind"] == "attribute"}
        self._met: set[str] = set()
        self._met_attributes: set[str] = set()

    def at(self, path: str) -> SkippedEntry | None:
        """The entry for an object, which counts as met from now on."""
        key = printable(path)
        self._met.add(key)
        return self._objects.get(key)

    def attribute_at(self, path: str, name: str) -> SkippedEntry | None:
        """The entry for an attribute, which counts as met from now on."""
        key = printable(attribute_path(path, name))
        self._met_attributes.add(key)
        return self._attributes.get(key)

    def unmet(self) -> list[SkippedEntry]:
        """Entries that nothing in the walk asked for, outside groups that are left out as a whole."""
        objects = [e for key, e in self._objects.items() if key not in self._met and not self._inside(key)]
        owners = ((key, e) for key, e in self._attributes.items() if key not in self._met_attributes)
        return objects + [e for key, e in owners if not self._inside(key)]

    def _inside(self, path: str) -> bool:
        parts = path.split("/")
        return any("/".join(parts[:number]) in self._objects for number in range(1, len(parts)))


def attribute_path(path: str, name: str) -> str:
    """How an attribute is named in reports and in ``skipped``."""
    return f"{path}@{name}"


def plain_path(path: str) -> str:
    """A path without its leading slash: the form of the document's keys."""
    return path.lstrip("/")


def join(path: str, name: str) -> str:
    """Path of a member of a group."""
    return f"{path}/{name}" if path else name


def load_references(
    refs: str | os.PathLike[str] | Rfs, tally: Tally, *, allow_local_files: bool = False
) -> References:
    """Load and open references, and check that a local file of them is strict JSON.

    Raises
    ------
    shadowzarr.errors.InvalidReferencesError
        When they are not references that can be read.
    """
    rfs = load_rfs(refs, allow_local_files=allow_local_files)
    if not isinstance(refs, Mapping):
        _check_file(Path(canonical(refs)), tally)
    return References(rfs, open_loaded(rfs), tally)


def _check_file(path: Path, tally: Tally) -> None:
    document = path / "refs.json" if path.is_dir() else path
    if not document.is_file():
        return  # a URL; its metadata documents are checked one by one
    try:
        strict_json(document.read_bytes())
    except ValueError as error:
        tally.differ("", "strict JSON", "a strict JSON document", str(error))


def _documents(rfs: Rfs) -> dict[str, str]:
    documents = {}
    for key, value in rfs["refs"].items():
        path, _, name = key.rpartition("/")
        if name == "zarr.json" and isinstance(value, str):
            documents[path] = _inline_text(value)
    return documents


def _inline_text(value: str) -> str:
    if not value.startswith("base64:"):
        return value
    return base64.b64decode(value.removeprefix("base64:")).decode("utf-8")


def _lenient(text: str) -> dict[str, Any]:
    """What can be had of a document that is not strict JSON, so that its node is still compared."""
    import json

    try:
        metadata = json.loads(text)
    except ValueError:
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _children(nodes: Mapping[str, Node]) -> dict[str, set[str]]:
    children: dict[str, set[str]] = {}
    for path in nodes:
        if path:
            parent, _, name = path.rpartition("/")
            children.setdefault(parent, set()).add(name)
    return children


def _is_link(entry: Any) -> bool:
    return (
        isinstance(entry, Mapping)
        and set(entry) == {"name", "source", "path"}
        and all(isinstance(value, str) for value in entry.values())
    )


async def _gather(names: AsyncIterator[str]) -> list[str]:
    return [name async for name in names]
