"""Phase 1: every object of a file and every link to it, each visited once.

Low level throughout: a hard link says the address of its object, so that an object with two names is
found without opening it, and links into other files are read as text and never followed (through a file
object HDF5 would open the same file again). Breadth first, so that the shortest name of an object is its
path and cycles end by themselves; siblings in the order of their names. What the objects hold is the
subject of the other modules.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from h5py import h5d, h5f, h5g, h5l, h5o, h5t

from ...access.watched import working_on
from .object_names import (
    absolute,
    child_path,
    decode_name,
    encode_name,
    printable,
    tree_order,
    why_not_a_node,
)
from .reasons import CannotRepresentError, reading

LinkKind = Literal["hard", "soft", "external", "user"]
ObjectKind = Literal["group", "dataset", "datatype"]

_KINDS: dict[int, LinkKind] = {
    h5l.TYPE_HARD: "hard",
    h5l.TYPE_SOFT: "soft",
    h5l.TYPE_EXTERNAL: "external",
}


@dataclass(frozen=True, slots=True)
class Link:
    """One name in a group.

    Attributes
    ----------
    name : str
        The name; bytes that are not UTF-8 are surrogates.
    kind : str
        ``hard``, ``soft``, ``external`` or ``user`` (a link class that only its writer knows).
    address : int
        Of a hard link: the object's address, relative to the end of the userblock.
    target : str
        Of a soft or external link: the path it names.
    file : str
        Of an external link: the file it names.
    link_class : int
        HDF5's number of the kind, which tells the classes of users apart.
    character_set : int
        Of the name.
    order : int
        When it was made, where that is tracked.
    """

    name: str
    kind: LinkKind
    address: int = 0
    target: str = ""
    file: str = ""
    link_class: int = h5l.TYPE_HARD
    character_set: int = 0
    order: int = 0


@dataclass(slots=True)
class StoredObject:
    """One object of the file.

    Attributes
    ----------
    address : int
        Its address, relative to the end of the userblock; what an object reference holds.
    path : str
        Its shortest name, without leading slash.
    kind : str
        ``group``, ``dataset`` or ``datatype`` (a committed data type).
    links : dict of str to Link
        Of a group: its names, in order.
    stored : list of Link, optional
        Of a group: the same, with the names that no node can have; None when not all could be read.
    """

    address: int
    path: str
    kind: ObjectKind
    links: dict[str, Link] = field(default_factory=dict)
    stored: list[Link] | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that could not be visited."""

    path: str
    kind: Literal["dataset", "group", "link"]
    reason: str


@dataclass(slots=True)
class ReadLinks:
    """What could be read of the links of a group.

    Attributes
    ----------
    found : list of (bytes, Link or str)
        By name, in order; for a link that could not be read, the reason.
    rest : str
        Why there may be more; empty when there are not.
    """

    found: list[tuple[bytes, Link | str]] = field(default_factory=list)
    rest: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether every link could be read."""
        return not self.rest and not any(isinstance(found, str) for _, found in self.found)


@dataclass(slots=True)
class Inventory:
    """Every object of a file.

    Attributes
    ----------
    root : StoredObject
        The root group.
    objects : dict of int to StoredObject
        By address, in the order they were found.
    failures : list of Failure
        What could not be visited.
    """

    root: StoredObject
    objects: dict[int, StoredObject] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def in_tree_order(self) -> list[StoredObject]:
        """All objects, each group before what is in it."""
        return sorted(self.objects.values(), key=lambda found: tree_order(found.path))


def take_inventory(file: h5f.FileID) -> Inventory:
    """Visit every link of a file once.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The open file.
    """
    root = StoredObject(address_of(h5g.open(file, b"/")), "", "group")
    inventory = Inventory(root, {root.address: root})
    todo = deque([root])
    while todo:
        group = todo.popleft()
        working_on(absolute(group.path))
        try:
            with reading():
                opened = h5g.open(file, encode_name(absolute(group.path)))
        except CannotRepresentError as error:
            inventory.failures.append(Failure(absolute(group.path), "group", str(error)))
            continue
        todo.extend(_visit(opened, group, inventory))
    return inventory


def address_of(item: h5g.GroupID | h5d.DatasetID | h5t.TypeID) -> int:
    """Address of an open object; unlike ``h5o.get_info`` it does not walk the chunk index."""
    low, high = h5g.get_objinfo(item).objno
    return int(low) | int(high) << 64


def address_of_committed(tid: h5t.TypeID) -> int | None:
    """Address of a committed datatype; None for one that is not, and where HDF5 does not say it."""
    if not tid.committed():
        return None
    try:
        with reading():
            return address_of(tid)
    except CannotRepresentError:
        return None


def _visit(opened: h5g.GroupID, group: StoredObject, inventory: Inventory) -> Iterator[StoredObject]:
    """Read a group's links; gives the groups that were found for the first time."""
    links = _links(opened, group, inventory)
    names = {link.name for link in links}
    for link in links:
        path = child_path(group.path, link.name)
        refusal = why_not_a_node(link.name, names)
        if refusal:
            inventory.failures.append(Failure(printable(absolute(path)), "link", refusal))
            continue
        group.links[link.name] = link
        if link.kind != "hard" or link.address in inventory.objects:
            continue
        try:
            with reading():
                kind = kind_of(h5o.open(opened, encode_name(link.name)))
        except CannotRepresentError as error:
            inventory.failures.append(Failure(absolute(path), "dataset", str(error)))
            continue
        found = StoredObject(link.address, path, kind)
        inventory.objects[link.address] = found
        if kind == "group":
            yield found


def _links(opened: h5g.GroupID, group: StoredObject, inventory: Inventory) -> list[Link]:
    read = read_links(opened)
    if read.rest:
        reason = f"the rest of its links: {read.rest}"
        inventory.failures.append(Failure(absolute(group.path), "group", reason))
    for name, found in read.found:
        if isinstance(found, str):
            path = printable(absolute(child_path(group.path, decode_name(name))))
            inventory.failures.append(Failure(path, "link", found))
    links = [found for _, found in read.found if isinstance(found, Link)]
    group.stored = links if read.is_complete else None
    return links


def read_links(opened: h5g.GroupID) -> ReadLinks:
    """The links of an open group, in the order of their names."""
    stored: list[tuple[bytes, int, int, int, int]] = []
    read = ReadLinks()

    def collect(name: bytes, info: h5l.LinkInfo) -> None:  # h5py gives the same LinkInfo every time
        order = int(info.corder) if info.corder_valid else 0
        stored.append((name, int(info.type), int(info.u), int(info.cset), order))

    try:
        with reading():
            opened.links.iterate(collect, info=True)
    except CannotRepresentError as error:
        read.rest = str(error)
    for name, *facts in sorted(stored):
        try:
            with reading():
                read.found.append((name, _link(opened, name, *facts)))
        except CannotRepresentError as error:
            read.found.append((name, str(error)))
    return read


def _link(
    opened: h5g.GroupID, name: bytes, link_class: int, address: int, character_set: int, order: int
) -> Link:
    text = decode_name(name)
    kind = _KINDS.get(link_class, "user")
    target = file = b""
    if kind == "soft":
        target = opened.links.get_val(name)
    elif kind == "external":
        file, target = opened.links.get_val(name)
    return Link(
        text,
        kind,
        address if kind == "hard" else 0,
        decode_name(target),
        decode_name(file),
        link_class,
        character_set,
        order,
    )


def kind_of(item: h5g.GroupID | h5d.DatasetID | h5t.TypeID) -> ObjectKind:
    """What an open object is."""
    if isinstance(item, h5g.GroupID):
        return "group"
    return "dataset" if isinstance(item, h5d.DatasetID) else "datatype"
