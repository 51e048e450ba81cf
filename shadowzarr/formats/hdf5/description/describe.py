"""Description: an open HDF5 file and the document made of it → the document's ``hdf5`` section.

Hears of each object while the generator has it open, and reads values only of what the document lacks. What
cannot be described is named in the section; nothing here fails the file.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from h5py import h5d, h5f, h5g, h5o, h5t

from ....attributes import decode_attributes
from ....hdf5_types.defaults import RAGGED
from ....hdf5_types.names import name_to_text, path_to_text
from ....hdf5_types.text import bytes_to_json
from ....hdf5_types.type_names import CHARACTER_SETS
from ....refs.chunk_key import metadata_key
from ....refs.document import Rfs
from ..inventory import Inventory
from ..opened_object import OpenedObject, opened
from ..reasons import CannotRepresentError, reading
from .attributes import describe_attributes
from .datasets import describe_dataset
from .facts import Facts, Unread, take_facts
from .links import common_character_set, describe_links
from .objects import FileReferences
from .section import KIND, Section
from .tree import Tree, take_tree

_LOST = "references to objects that have no path"

Node = Mapping[str, Any]


class Description:
    """What a document does not say about the HDF5 file it is made of.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The open file.
    inventory : Inventory
        The objects that the document is made of.
    """

    def __init__(self, file: h5f.FileID, inventory: Inventory) -> None:
        self._file = file
        self._root = h5g.open(file, b"/")
        self._tree = Tree()
        self._section = Section(lambda address: self._tree.paths.get(address))
        try:
            with reading("its tree"):
                self._tree = take_tree(file, inventory)
        except CannotRepresentError as error:
            self._section.not_described("/", "object", str(error))
        self._references = FileReferences(file, self._tree)
        self._facts: dict[int, Facts | Unread] = {}
        self._refs: Mapping[str, Any] = {}
        self._lost: set[str] = set()

    def hear(self, address: int, item: OpenedObject) -> None:
        """Take what is described of an object, while it is open.

        Parameters
        ----------
        address : int
            Of the object.
        item : OpenedObject
            The object.
        """
        try:
            with reading():
                self._facts[address] = self._taken(self._tree.paths[address], item)
        except CannotRepresentError as error:
            self._facts[address] = Unread(str(error))

    def section(self, rfs: Rfs, *, userblock: bytes = b"") -> dict[str, Any]:
        """The section ``hdf5`` of the document, once.

        Parameters
        ----------
        rfs : Rfs
            The document.
        userblock : bytes, optional
            What lies before the HDF5 file proper.
        """
        self._refs = rfs["refs"]
        self._lost = {item["path"] for item in rfs.get("converted", []) if _LOST in item["what"]}
        self._character_set = common_character_set(self._tree)
        for path, reason in self._tree.failures:
            self._section.not_described(path_to_text(path), "object", reason)
        self._describe_file(userblock)
        for path, address in sorted((path, address) for address, path in self._tree.paths.items()):
            try:
                with reading():
                    self._describe_object(path, address)
            except CannotRepresentError as error:
                self._section.not_described(path_to_text(path), "object", str(error))
        return self._section.build()

    def _describe_file(self, userblock: bytes) -> None:
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
                "bytes": bytes_to_json(userblock[:size].rstrip(b"\0")),
            }
        if self._character_set != h5t.CSET_UTF8:
            described["linkCharSet"] = CHARACTER_SETS.get(self._character_set, self._character_set)
        self._section.file = described

    def _describe_object(self, path: bytes, address: int) -> None:
        facts = self._facts.pop(address, None) or self._taken(path, self._open(path))
        if isinstance(facts, Unread):
            raise CannotRepresentError(facts.reason)
        text, node = path_to_text(path), self._node(path)
        if facts.kind == "dataset":
            entry = self._dataset(facts, path, text, node)
        elif facts.kind == "group":
            entry = self._group(facts, path, text, node)
        else:
            entry = {KIND: "datatype", "class": "datatype", "type": self._type(facts)}
        if facts.comment:
            entry["comment"] = name_to_text(facts.comment)
        held = decode_attributes(node.get("attributes", {})) if node is not None else {}
        entry |= describe_attributes(facts, text, held, self._section, self._references)
        self._section.objects[text] = entry

    def _taken(self, path: bytes, item: OpenedObject) -> Facts:
        """The facts of an open object."""
        facts = take_facts(item, self._references)
        with contextlib.suppress(CannotRepresentError), reading():
            # h5py's newer function for this gives back memory that nothing was written to.
            facts.comment = self._root.get_comment(path)
        return facts

    def _open(self, path: bytes) -> OpenedObject:
        with reading():
            return opened(h5o.open(self._file, path))

    def _type(self, facts: Facts) -> Any:
        assert facts.type is not None  # noqa: S101 - a datatype has one
        return self._section.type_entry(self._section.type_json(facts.type, None))

    def _dataset(self, facts: Facts, path: bytes, text: str, node: Node | None) -> dict[str, Any]:
        is_whole = node is not None and "data_type" in node.get("values", node)
        return describe_dataset(
            facts,
            text,
            node if is_whole else None,
            self._section,
            self._references,
            lost_references=text in self._lost,
            open_again=lambda: h5d.open(self._file, path),
        )

    def _group(self, facts: Facts, path: bytes, text: str, node: Node | None) -> dict[str, Any]:
        entry: dict[str, Any] = {} if node is not None else {"class": "group"}
        creation = facts.creation
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
