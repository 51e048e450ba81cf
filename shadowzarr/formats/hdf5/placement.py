"""Which object of which file becomes the node at which path.

The objects of the file itself come first, at their own paths. Then each link into another file is followed:
what it leads to has its place there, with all that is in it, unless it has one already.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from h5py import h5r

from .inventory import Failure, Inventory, StoredObject, address_of
from .linked_files import HDF5File, LinkedFiles, Place
from .object_names import absolute, child_path, printable, tree_order
from .reasons import CannotRepresentError, reading
from .references import ReferenceResolver

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Placed:
    """One object and its place in the document.

    Attributes
    ----------
    path : str
        In the document, without leading slash.
    file : HDF5File
        The file that holds it.
    found : StoredObject
        The object there.
    """

    path: str
    file: HDF5File
    found: StoredObject

    @property
    def place(self) -> Place:
        """The object alone."""
        return Place(self.file, self.found)


@dataclass(slots=True)
class Placement:
    """Every object that the document may hold.

    Attributes
    ----------
    files : LinkedFiles
        The files.
    objects : list of Placed
        Each group before what is in it.
    paths : dict
        Path of each object, by `Place.key`.
    targets : dict of str to Key
        What each external link leads to, by the link's path.
    reasons : dict of str to str
        Or why it leads nowhere.
    """

    files: LinkedFiles
    objects: list[Placed] = field(default_factory=list)
    paths: dict[Key, str] = field(default_factory=dict)
    targets: dict[str, Key] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def linked(self) -> list[HDF5File]:
        """Files beside the first that hold an object, in the order in which they were met."""
        files = {placed.file.number: placed.file for placed in self.objects if placed.file.number}
        return [files[number] for number in sorted(files)]

    def failures(self) -> list[Failure]:
        """What could not be visited in any file, under its path in the document."""
        found = list(self.files.first.inventory.failures)
        for file in self.linked():
            places = {absolute(item.found.path): item.path for item in self.objects if item.file is file}
            for failure in file.inventory.failures:
                parent, _, name = failure.path.rpartition("/")
                if failure.path in places:
                    path = places[failure.path]
                elif (parent or "/") in places:
                    path = child_path(places[parent or "/"], name)
                else:
                    continue  # it is in a part of the file that no link leads to
                found.append(Failure(printable(absolute(path)), failure.kind, failure.reason))
        return found

    def resolver(self, file: HDF5File) -> ReferenceResolver:
        """What turns the references of a file into paths of the document."""
        if not file.number:
            return ReferenceResolver(file.inventory, file.opened.file.id)
        return _LinkedResolver(file, self.paths)


def place_objects(files: LinkedFiles) -> Placement:
    """Give every object its path, following links into other files."""
    placement = Placement(files)
    for found in files.first.inventory.in_tree_order():
        _add(placement, Placed(found.path, files.first, found))
    queue = deque(item for item in placement.objects if item.found.kind == "group")
    while queue:
        group = queue.popleft()
        for link in group.found.links.values():
            if link.kind != "external":
                continue
            path = child_path(group.path, link.name)
            try:
                target = files.follow(link, group.file)
            except CannotRepresentError as error:
                placement.reasons[path] = str(error)
                continue
            if target.found.kind == "datatype":
                placement.reasons[path] = "a committed data type, which has no node"
                continue
            placement.targets[path] = target.key
            if target.key not in placement.paths:
                queue.extend(_place_all(placement, target, path))
    placement.objects.sort(key=lambda item: tree_order(item.path))
    return placement


def _add(placement: Placement, item: Placed) -> None:
    placement.objects.append(item)
    placement.paths[item.place.key] = item.path


def _place_all(placement: Placement, target: Place, path: str) -> list[Placed]:
    """Place an object and all that is in it; gives the groups among them."""
    first = Placed(path, *target)
    _add(placement, first)
    groups = [first] if target.found.kind == "group" else []
    for group in groups:  # grows while it runs
        for link in group.found.links.values():
            found = group.file.inventory.objects.get(link.address) if link.kind == "hard" else None
            if found is None or (group.file.number, found.address) in placement.paths:
                continue
            item = Placed(child_path(group.path, link.name), group.file, found)
            _add(placement, item)
            groups += [item] if found.kind == "group" else []
    return groups


class _LinkedResolver(ReferenceResolver):
    """References of a file of which only a part is in the document."""

    def __init__(self, file: HDF5File, paths: dict[Key, str]) -> None:
        own = {address: path for (number, address), path in paths.items() if number == file.number}
        objects = {
            address: StoredObject(address, path, file.inventory.objects[address].kind)
            for address, path in own.items()
        }
        super().__init__(Inventory(file.inventory.root, objects), file.opened.file.id)
        self._linked = file

    def path(self, address: int) -> str:
        """As in a file alone, but an object that is not linked is no dangling reference.

        Raises
        ------
        CannotRepresentError
            For a reference to such an object.
        """
        elsewhere = self._linked.inventory.objects.get(address)
        if elsewhere is not None and not self._knows(address):
            raise CannotRepresentError(
                f"it refers to {printable(absolute(elsewhere.path))} of the file {self._linked.name}, "
                "to which no link leads"
            )
        return super().path(address)

    def name_of(self, reference: Any) -> str:
        """As in a file alone, also of an object that is not linked."""
        try:
            return super().name_of(reference)
        except CannotRepresentError:
            with reading():
                address = address_of(h5r.dereference(reference, self._linked.opened.file.id))
            return self._linked.inventory.objects[address].path.rpartition("/")[2]
