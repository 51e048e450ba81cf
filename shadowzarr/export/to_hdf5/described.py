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
from ...errors import InvalidReferencesError
from ...hdf5_types.defaults import CONVENTION, IN_PARTS, RAGGED, chunk_shape, default_shape, default_type
from ...hdf5_types.names import name_to_text, text_to_path
from ...refs.chunk_key import METADATA_NAME, metadata_key, parse_chunk_key
from ...refs.gen import array_path
from ...refs.zarr_metadata import chunk_grid_shape
from ...store.rfs_store import RfsStore
from .check_section import check_section

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
        check_section(self.section)
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
        is_dataset = node.get("node_type") == "array" or IN_PARTS & set(node.get("attributes", {}))
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
        return self._table("types", reference) if isinstance(reference, int) else reference

    def _table(self, name: str, number: int) -> Any:
        table = self.section.get(name, [])
        if not 0 <= number < len(table):
            raise InvalidReferencesError(
                f"the hdf5 section refers to number {number} of its {len(table)} {name}"
            )
        return table[number]

    def dataset_type(self, path: str) -> Any:
        """Datatype of a dataset as JSON; None when nothing says it."""
        entry, node = self.entry(path), self.node(path)
        if "type" in entry:
            return self.type(entry["type"])
        if node is None:
            return None
        if RAGGED in node.get("attributes", {}):
            base = default_type(self._metadata(f"{path}/values".lstrip("/")))
            return None if base is None else {"class": "H5T_VLEN", "base": base}
        return default_type(node)

    def shape(self, path: str) -> Any:
        """Dataspace of a dataset as JSON; None when nothing says it."""
        node, entry = self.node(path), self.entry(path)
        if "shape" in entry or node is None:
            return entry.get("shape")
        limits = {"maxdims": entry["maxdims"]} if "maxdims" in entry else {}
        return {**default_shape(node), **limits}

    def creation(self, path: str) -> dict[str, Any]:
        """Creation properties of an object, with the dims of chunks."""
        usual = self.section.get("usualCreations", {}).get(self.kind(path))
        number = self.entry(path).get("creation", usual)
        creation = dict(self._table("creations", number)) if number is not None else {}
        layout = creation.get("layout", {})
        if layout.get("class") == "H5D_CHUNKED" and "dims" not in layout:
            rank = len(self.shape(path).get("dims", ()))
            creation["layout"] = {**layout, "dims": chunk_shape(self.node(path) or {})[:rank]}
        return creation

    def is_array(self, path: str) -> bool:
        """Whether a dataset is one array of the document."""
        return "data_type" in (self.node(path) or {})

    def is_ragged(self, path: str) -> bool:
        """Whether a dataset is an array of items and one of offsets."""
        marked = RAGGED in (self.node(path) or {}).get("attributes", {})
        return marked and "data_type" in self._metadata(f"{path}/values".lstrip("/"))

    def attributes(self, path: str) -> dict[str, tuple[Any, Mapping[str, Any]]]:
        """Attributes of an object: what the node holds (or `MISSING`), and what the section says."""
        node, entry = self.node(path), self.entry(path)
        held = decode_attributes((node or {}).get("attributes", {}))
        described = {name: _attribute(value) for name, value in entry.get("attributes", {}).items()}
        absent = CONVENTION | set(entry.get("attributesAbsent", ()))
        names = {name for name in held if name not in absent} | set(described)
        order = self.order(entry.get("attributeOrder")) or sorted(names, key=text_to_path)
        return {name: (held.get(name, MISSING), described.get(name, {})) for name in order if name in names}

    def order(self, number: int | None) -> list[str]:
        """Names in an order that an object refers to; none when it refers to none."""
        return list(self._table("orders", number)) if number is not None else []

    def links(self, path: str) -> dict[str, dict[str, Any]]:
        """Links of a group beside its objects' own names."""
        node = self.node(path) or {}
        held = {
            name_to_text(link["name"].encode()): {"class": "H5L_TYPE_SOFT", "h5path": link["path"]}
            for link in node.get("attributes", {}).get("_LINKS", [])
        }
        return held | dict(self.entry(path).get("links", {}))

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
        listed = sync(self._all_chunks(name)) if is_computed else self._listed.get(name, [])
        grid = chunk_grid_shape(*self._extents(name))
        return sorted(place for place in listed if _is_inside(place, grid))

    def last_row(self, name: str) -> int:
        """How far the chunks reach that the document has of an array of one axis."""
        places, (shape, edges) = self.chunks(name), self._extents(name)
        return min(shape[0], (places[-1][0] + 1) * edges[0]) if places else 0

    def _extents(self, name: str) -> tuple[list[int], list[int]]:
        """Shape and chunk shape of an array."""
        metadata = self._metadata(name)
        return metadata["shape"], chunk_shape(metadata)

    async def _all_chunks(self, name: str) -> list[tuple[int, ...]]:
        """With those of rules and chunk indexes."""
        found: list[tuple[int, ...]] = []
        async for key in self.store.list_prefix(f"{name}/c" if name else "c"):
            parsed = parse_chunk_key(key)
            if parsed is not None and parsed[0] == name:
                found.append(tuple(parsed[1]))
        return found

    def _take_nodes(self) -> None:
        """Nodes that are objects of the HDF5 file: no parts of a dataset, nothing behind a link."""
        suffix = f"/{METADATA_NAME}"
        names = [key.removesuffix(suffix) for key in self.store.rfs["refs"] if key.endswith(suffix)]
        links = self._link_paths()
        hidden: set[str] = set()
        for name in ["", *sorted(names)]:
            path = _path_of(name)
            if name and (name.rpartition("/")[0] in hidden or path in links):
                hidden.add(name)
                continue
            metadata = self._nodes[path] = self._metadata(name)
            if IN_PARTS & set(metadata.get("attributes", {})):
                hidden.add(name)

    def _link_paths(self) -> set[str]:
        """Where the section says that there is a link; what a node of that name shows is elsewhere."""
        return {
            f"{path.rstrip('/')}/{name}"
            for path, entry in self._objects.items()
            for name in entry.get("links", {})
        }

    def _metadata(self, name: str) -> dict[str, Any]:
        found = sync(self.store.get(metadata_key(name), default_buffer_prototype()))
        parsed: dict[str, Any] = json.loads(found.to_bytes()) if found is not None else {}
        return parsed


def _path_of(name: str) -> str:
    """Path of an object by the name of its node, as the section writes it."""
    return "/" + "/".join(name_to_text(part.encode("utf-8", "surrogateescape")) for part in name.split("/"))


def _is_inside(place: tuple[int, ...], grid: tuple[int, ...]) -> bool:
    return len(place) == len(grid) and all(c < extent for c, extent in zip(place, grid, strict=True))


def _attribute(described: Any) -> Mapping[str, Any]:
    """An attribute of which only the type is said is that type alone."""
    return described if isinstance(described, Mapping) else {"type": described}
