"""The objects of a file with their names, in bytes, and every link, with what zarr's names leave out.

The inventory has the paths of what became a node; here are the rest as well (names that are not UTF-8, links
of every kind, the order in which they were made). Breadth first and in the order of names, as the inventory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from h5py import h5, h5f, h5g, h5l, h5o

from ..inventory import address_of
from ..reasons import CannotRepresentError, reading


@dataclass(frozen=True, slots=True)
class StoredLink:
    """One name in a group, as it is stored.

    Attributes
    ----------
    name : bytes
        The name.
    kind : int
        One of ``h5py.h5l.TYPE_*``, or the number of a class of the user's.
    address : int
        Of a hard link: where its object is.
    target, file : bytes
        Of a soft or external link: path, and file.
    character_set : int
        Of the name.
    order : int
        When it was made, where that is tracked.
    """

    name: bytes
    kind: int
    address: int = 0
    target: bytes = b""
    file: bytes = b""
    character_set: int = 0
    order: int = 0


@dataclass(slots=True)
class Tree:
    """Every object that a path leads to.

    Attributes
    ----------
    paths : dict of int to bytes
        Path of the object at an address, with a leading slash; in the order they were found.
    links : dict of bytes to list of StoredLink
        Links of the group at a path, in the order of names.
    failures : list of (bytes, str)
        Paths that could not be followed, and why.
    named : mapping of int to bytes
        Paths of the objects that the document may name, by address.
    """

    paths: dict[int, bytes] = field(default_factory=dict)
    links: dict[bytes, list[StoredLink]] = field(default_factory=dict)
    failures: list[tuple[bytes, str]] = field(default_factory=list)
    named: Mapping[int, bytes] = field(default_factory=dict)


def take_tree(file: h5f.FileID, named: Mapping[int, bytes]) -> Tree:
    """Visit every link of a file once.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The open file.
    named : mapping of int to bytes
        Paths of the objects that the document may name, by address; any others are found here.
    """
    tree = Tree({address_of(h5g.open(file, b"/")): b"/"}, named=named)
    todo = deque([b"/"])
    while todo:
        path = todo.popleft()
        try:
            with reading():
                todo.extend(_visit(h5g.open(file, path), path, tree))
        except CannotRepresentError as error:
            tree.failures.append((path, str(error)))
    return tree


def _visit(group: h5g.GroupID, path: bytes, tree: Tree) -> list[bytes]:
    """Read a group's links; gives the groups that were found for the first time."""
    tree.links[path] = links = []
    found: list[bytes] = []
    for link in _links(group):
        child = path.rstrip(b"/") + b"/" + link.name
        try:
            with reading():
                links.append(_followed(group, link))
                if link.kind == h5l.TYPE_HARD and link.address not in tree.paths:
                    item = h5o.open(group, link.name)
                    own = tree.paths[link.address] = tree.named.get(link.address, child)
                    found.extend([own] if isinstance(item, h5g.GroupID) else [])
        except CannotRepresentError as error:
            tree.failures.append((child, str(error)))
    return found


def _links(group: h5g.GroupID) -> Iterator[StoredLink]:
    found: list[StoredLink] = []

    def collect(name: bytes, info: h5l.LinkInfo) -> None:
        order = int(info.corder) if info.corder_valid else 0
        address = int(info.u) if info.type == h5l.TYPE_HARD else 0
        found.append(StoredLink(name, int(info.type), address, character_set=int(info.cset), order=order))

    group.links.iterate(collect, info=True, idx_type=h5.INDEX_NAME)
    return iter(sorted(found, key=lambda link: link.name))


def _followed(group: h5g.GroupID, link: StoredLink) -> StoredLink:
    """The link with what it names."""
    if link.kind == h5l.TYPE_SOFT:
        return replace(link, target=group.links.get_val(link.name))
    if link.kind == h5l.TYPE_EXTERNAL:
        file, target = group.links.get_val(link.name)
        return replace(link, target=target, file=file)
    return link
