"""describe: an open HDF5 file and the document made of it → the document's ``hdf5`` section.

Reads object headers, attributes and links, all of which the generator has read just before, and values only
of what the document lacks. What cannot be described is named in the section; nothing here fails the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from h5py import h5d, h5f, h5g, h5o, h5t

from ....attributes import decode_attributes
from ....hdf5_types.defaults import RAGGED
from ....hdf5_types.names import name_to_text, path_to_text
from ....hdf5_types.properties import group_properties
from ....hdf5_types.text import bytes_to_json
from ....hdf5_types.type_names import CHARACTER_SETS
from ....refs.chunk_key import metadata_key
from ....refs.document import Rfs
from ..inventory import Inventory, address_of
from ..object_names import absolute, encode_name
from ..reasons import CannotRepresentError, reading
from .attributes import describe_attributes
from .datasets import describe_dataset
from .links import common_character_set, describe_links
from .objects import FileReferences
from .section import KIND, Section
from .tree import Tree, take_tree

_LOST = "references to objects that have no path"

Node = Mapping[str, Any]


def describe(file: h5f.FileID, inventory: Inventory, rfs: Rfs, *, userblock: bytes = b"") -> dict[str, Any]:
    """Describe what a document does not say about the HDF5 file it was made of.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The open file.
    inventory : Inventory
        The objects that the document was made of.
    rfs : Rfs
        The document.
    userblock : bytes, optional
        What lies before the HDF5 file proper.

    Returns
    -------
    dict
        The section ``hdf5`` of the document.
    """
    return _Description(file, inventory, rfs, userblock).section()


class _Description:
    def __init__(self, file: h5f.FileID, inventory: Inventory, rfs: Rfs, userblock: bytes) -> None:
        self._file = file
        self._inventory = inventory
        self._refs = rfs["refs"]
        self._userblock = userblock
        self._lost = {item["path"] for item in rfs.get("converted", []) if _LOST in item["what"]}
        self._tree: Tree = Tree()
        self._section = Section(self._committed)

    def section(self) -> dict[str, Any]:
        try:
            with reading("its tree"):
                objects = self._inventory.objects.items()
                named = {address: encode_name(absolute(found.path)) for address, found in objects}
                self._tree = take_tree(self._file, named)
        except CannotRepresentError as error:
            self._section.not_described("/", "object", str(error))
        self._root = h5g.open(self._file, b"/")
        self._references = FileReferences(self._file, self._tree)
        self._character_set = common_character_set(self._tree)
        for path, reason in self._tree.failures:
            self._section.not_described(path_to_text(path), "object", reason)
        self._describe_file()
        for path in sorted(self._tree.paths.values()):
            try:
                with reading():
                    self._describe_object(path)
            except CannotRepresentError as error:
                self._section.not_described(path_to_text(path), "object", str(error))
        return self._section.build()

    def _committed(self, tid: h5t.TypeID) -> bytes | None:
        return self._tree.paths.get(address_of(tid))

    def _describe_file(self) -> None:
        described: dict[str, Any] = {}
        try:
            with reading("its properties"):
                properties = self._file.get_create_plist()
                superblock = int(properties.get_version()[0])
                size = int(properties.get_userblock())
        except CannotRepresentError as error:
            self._section.not_described("/", "object", str(error))
            return
        if superblock:
            described["superblock"] = superblock
        if size:
            described["userblock"] = {
                "size": size,
                "bytes": bytes_to_json(self._userblock[:size].rstrip(b"\0")),
            }
        if self._character_set != h5t.CSET_UTF8:
            described["linkCharSet"] = CHARACTER_SETS.get(self._character_set, self._character_set)
        self._section.file = described

    def _describe_object(self, path: bytes) -> None:
        item = h5o.open(self._file, path)
        text, node = path_to_text(path), self._node(path)
        if isinstance(item, h5d.DatasetID):
            entry = self._dataset(item, text, node)
        elif isinstance(item, h5g.GroupID):
            entry = self._group(item, path, text, node)
        else:
            described = self._section.type_entry(self._section.type_json(item.copy()))
            entry = {KIND: "datatype", "class": "datatype", "type": described}
        entry |= self._comment(path)
        held = decode_attributes(node.get("attributes", {})) if node is not None else {}
        is_ordered = self._section.is_ordered(entry)
        entry |= describe_attributes(item, text, held, self._section, self._references, is_ordered=is_ordered)
        self._section.objects[text] = entry

    def _dataset(self, item: h5d.DatasetID, text: str, node: Node | None) -> dict[str, Any]:
        is_whole = node is not None and "data_type" in node.get("values", node)
        return describe_dataset(
            item,
            text,
            node if is_whole else None,
            self._section,
            self._references,
            lost_references=text in self._lost,
        )

    def _group(self, item: h5g.GroupID, path: bytes, text: str, node: Node | None) -> dict[str, Any]:
        entry: dict[str, Any] = {} if node is not None else {"class": "group"}
        with reading("its creation properties"):
            creation = group_properties(item.get_create_plist())
        entry |= {KIND: "group", "creation": self._section.creation_entry("group", creation)}
        links = (node or {}).get("attributes", {}).get("_LINKS", [])
        held = {name_to_text(link["name"].encode()): link["path"] for link in links}
        return entry | describe_links(
            path,
            self._tree,
            held,
            section=self._section,
            is_ordered="linkCreationOrder" in creation,
            character_set=self._character_set,
        )

    def _comment(self, path: bytes) -> dict[str, Any]:
        try:
            with reading():
                # h5py's newer function for this gives back memory that nothing was written to.
                comment = self._root.get_comment(path)
        except CannotRepresentError:
            return {}
        return {"comment": name_to_text(comment)} if comment else {}

    def _node(self, path: bytes) -> Node | None:
        """``zarr.json`` of what an object became."""
        try:
            name = path.decode("utf-8").lstrip("/")
        except UnicodeDecodeError:
            return None
        node = self._metadata(name)
        if node is not None and RAGGED in node.get("attributes", {}):
            node = {**node, "values": self._metadata(f"{name}/values") or {}}
        return node

    def _metadata(self, name: str) -> dict[str, Any] | None:
        text = self._refs.get(metadata_key(name))
        if not isinstance(text, str):
            return None
        parsed: dict[str, Any] = json.loads(text)
        return parsed
