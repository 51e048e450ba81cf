"""What is to be written: the nodes of a document and its ``hdf5`` section, brought together.

A document without the section is written too, as its Zarr side suggests. Pure, but for `DescribedFile.node`,
which asks the store for metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ...attributes import decode_attributes
from ...hdf5_types.defaults import CONVENTION, RAGGED, chunk_shape, default_shape, default_type
from ...hdf5_types.names import name_to_text, text_to_path
from ...refs.chunk_key import METADATA_NAME, metadata_key, parse_chunk_key
from ...refs.gen import array_path
from ...store.rfs_store import RfsStore

MISSING: Any = object()


class DescribedFile:
    """The HDF5 file that a document stands for.

    Parameters
    ----------
    store : RfsStore
        The document, with ``strict_json``.
    """

    def __init__(self, store: RfsStore) -> None:
        self.store = store
        self.section: Mapping[str, Any] = store.rfs.get("hdf5") or {}
        self._objects: Mapping[str, Any] = self.section.get("objects", {})
        self._nodes: dict[str, dict[str, Any]] = {}
        self._listed: dict[str, list[tuple[int, ...]]] = {}
        self._take_nodes()
        self.paths = sorted({"/", *self._nodes, *self._objects}, key=text_to_path)
        """Paths of all objects, as the section writes them; each group before what is in it."""

    @property
    def file(self) -> Mapping[str, Any]:
        """Properties of the file itself."""
        properties: Mapping[str, Any] = self.section.get("file", {})
        return properties

    def kind(self, path: str) -> str:
        """``group``, ``dataset`` or ``datatype``."""
        if "class" in self.entry(path):
            return str(self.entry(path)["class"])
        node = self.node(path) or {}
        is_dataset = node.get("node_type") == "array" or RAGGED in node.get("attributes", {})
        return "dataset" if is_dataset else "group"

    def entry(self, path: str) -> Mapping[str, Any]:
        """What the section says of an object."""
        entry: Mapping[str, Any] = self._objects.get(path, {})
        return entry

    def node(self, path: str) -> dict[str, Any] | None:
        """``zarr.json`` of an object; None when it has no node."""
        return self._nodes.get(path)

    def type(self, reference: Any) -> Any:
        """A datatype that an object refers to: a number in the table, or JSON itself."""
        return self.section["types"][reference] if isinstance(reference, int) else reference

    def dataset_type(self, path: str) -> Any:
        """Datatype of a dataset as JSON; None when nothing says it."""
        entry, node = self.entry(path), self.node(path)
        if "type" in entry:
            return self.type(entry["type"])
        if node is None:
            return None
        if RAGGED in node.get("attributes", {}):
            return {"class": "H5T_VLEN", "base": default_type(self._array(f"{path}/values"))}
        return default_type(node)

    def shape(self, path: str) -> Any:
        """Dataspace of a dataset as JSON; None when nothing says it."""
        node = self.node(path)
        return self.entry(path).get("shape") or (default_shape(node) if node is not None else None)

    def creation(self, path: str) -> dict[str, Any]:
        """Creation properties of an object, with the dims of chunks."""
        number = self.entry(path).get("creation")
        creation = dict(self.section["creations"][number]) if number is not None else {}
        layout = creation.get("layout", {})
        if layout.get("class") == "H5D_CHUNKED" and "dims" not in layout:
            rank = len(self.shape(path).get("dims", ()))
            creation["layout"] = {**layout, "dims": chunk_shape(self.node(path) or {})[:rank]}
        return creation

    def attributes(self, path: str) -> dict[str, tuple[Any, Mapping[str, Any]]]:
        """Attributes of an object: what the node holds (or `MISSING`), and what the section says."""
        node, entry = self.node(path), self.entry(path)
        held = decode_attributes((node or {}).get("attributes", {}))
        described = {name: _attribute(value) for name, value in entry.get("attributes", {}).items()}
        absent = CONVENTION | set(entry.get("attributesAbsent", ()))
        names = {name for name in held if name not in absent} | set(described)
        order = entry.get("attributeOrder") or sorted(names, key=text_to_path)
        return {name: (held.get(name, MISSING), described.get(name, {})) for name in order if name in names}

    def links(self, path: str) -> dict[str, dict[str, Any]]:
        """Links of a group beside its objects' own names."""
        node = self.node(path) or {}
        held = {
            name_to_text(link["name"].encode()): {"class": "H5L_TYPE_SOFT", "h5path": link["path"]}
            for link in node.get("attributes", {}).get("_LINKS", [])
        }
        return held | dict(self.entry(path).get("links", {}))

    def is_ragged(self, path: str) -> bool:
        """Whether a dataset of sequences became a group."""
        return RAGGED in (self.node(path) or {}).get("attributes", {})

    def chunks(self, name: str) -> list[tuple[int, ...]]:
        """Coordinates of the chunks that the document has of an array, in order.

        Parameters
        ----------
        name : str
            Path of the array, without leading slash.
        """
        rfs = self.store.rfs
        if not self._listed:
            for parsed in map(parse_chunk_key, rfs["refs"]):
                if parsed is not None:
                    self._listed.setdefault(parsed[0], []).append(tuple(parsed[1]))
        is_computed = name in rfs.get("indexes", {}) or any(
            array_path(entry) == name for entry in rfs.get("gen", [])
        )
        return sorted(sync(self._all_chunks(name)) if is_computed else self._listed.get(name, []))

    async def _all_chunks(self, name: str) -> list[tuple[int, ...]]:
        """With those of rules and chunk indexes."""
        found: list[tuple[int, ...]] = []
        async for key in self.store.list_prefix(f"{name}/c" if name else "c"):
            parsed = parse_chunk_key(key)
            if parsed is not None and parsed[0] == name:
                found.append(tuple(parsed[1]))
        return found

    def _array(self, path: str) -> dict[str, Any]:
        return self._metadata(path.lstrip("/"))

    def _take_nodes(self) -> None:
        suffix = f"/{METADATA_NAME}"
        names = [key.removesuffix(suffix) for key in self.store.rfs["refs"] if key.endswith(suffix)]
        ragged: set[str] = set()
        for name in ["", *sorted(names)]:
            if name.rpartition("/")[0] in ragged:
                continue
            metadata = self._metadata(name)
            if RAGGED in metadata.get("attributes", {}):
                ragged.add(name)
            path = "/" + "/".join(
                name_to_text(part.encode("utf-8", "surrogateescape")) for part in name.split("/")
            )
            self._nodes[path if name else "/"] = metadata

    def _metadata(self, name: str) -> dict[str, Any]:
        found = sync(self.store.get(metadata_key(name), default_buffer_prototype()))
        parsed: dict[str, Any] = json.loads(found.to_bytes()) if found is not None else {}
        return parsed


def _attribute(described: Any) -> Mapping[str, Any]:
    """An attribute of which only the type is said is that type alone."""
    return described if isinstance(described, Mapping) else {"type": described}
