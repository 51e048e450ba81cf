"""The objects of a file with their names, in bytes, and every link, with what zarr's names leave out.

The inventory has the paths of what became a node and the links of every group; here are the rest of the
objects as well (names that are not UTF-8). Breadth first and in the order of names, as the inventory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from h5py import h5f, h5g, h5o

from ..inventory import Inventory, Link, kind_of, read_links
from ..object_names import absolute, encode_name
from ..reasons import CannotRepresentError, reading


@dataclass(slots=True)
class Tree:
    """Every object that a path leads to.

    Attributes
    ----------
    paths : dict of int to bytes
        Path of the object at an address, with a leading slash; in the order they were found.
    links : dict of bytes to list of Link
        Links of the group at a path, in the order of names.
    failures : list of (bytes, str)
        Paths that could not be followed, and why.
    """

    paths: dict[int, bytes] = field(default_factory=dict)
    links: dict[bytes, list[Link]] = field(default_factory=dict)
    failures: list[tuple[bytes, str]] = field(default_factory=list)


def take_tree(file: h5f.FileID, inventory: Inventory) -> Tree:
    """Find what the inventory does not have.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The open file.
    inventory : Inventory
        Its objects that the document may name.
    """
    return _Taking(file, inventory).tree()


class _Taking:
    def __init__(self, file: h5f.FileID, inventory: Inventory) -> None:
        self._file = file
        self._objects = inventory.objects
        self._root = inventory.root.address
        self._tree = Tree({self._root: b"/"})

    def tree(self) -> Tree:
        todo = deque([self._root])
        while todo:
            address = todo.popleft()
            path = self._tree.paths[address]
            self._tree.links[path] = []
            try:
                todo.extend(self._visit(path, address))
            except CannotRepresentError as error:
                self._tree.failures.append((path, str(error)))
        return self._tree

    def _visit(self, path: bytes, address: int) -> Iterator[int]:
        """Take a group's links; gives the groups that were found for the first time."""
        for name, link in self._stored(path, address):
            child = path.rstrip(b"/") + b"/" + name
            if isinstance(link, str):
                self._tree.failures.append((child, link))
                continue
            self._tree.links[path].append(link)
            if link.kind != "hard" or link.address in self._tree.paths:
                continue
            try:
                with reading():
                    yield from self._found(child, link.address)
            except CannotRepresentError as error:
                self._tree.failures.append((child, str(error)))

    def _stored(self, path: bytes, address: int) -> Iterator[tuple[bytes, Link | str]]:
        """Names and links of a group; the reason in place of a link that cannot be read."""
        known = self._objects.get(address)
        if known is not None and known.stored is not None:
            return ((encode_name(link.name), link) for link in known.stored)
        with reading():
            read = read_links(h5g.open(self._file, path))
        if read.rest:
            raise CannotRepresentError(read.rest)
        return iter(read.found)

    def _found(self, child: bytes, address: int) -> Iterator[int]:
        """Keep the path of an object that was met for the first time; gives it when it is a group."""
        known = self._objects.get(address)
        kind = known.kind if known is not None else kind_of(h5o.open(self._file, child))
        self._tree.paths[address] = encode_name(absolute(known.path)) if known is not None else child
        if kind == "group":
            yield address
