"""The HDF5 file that references are made for and those that it leads to, open, each with its inventory.

Follows paths through links of every kind from file to file. How many files are opened, and how far from the
first one they are, is limited, so that a chain of links that never ends does.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import h5py
from h5py import h5d

from ...access.locations import is_remote, without_query
from ...errors import ShadowzarrError, ShortReadError, SourceChangedError, SourceNotFoundError
from .inventory import Inventory, Link, StoredObject, take_inventory
from .object_names import absolute, encode_name, printable
from .opening import OpenFile, open_source
from .other_files import MissingFileError, Neighbourhood
from .reasons import CannotRepresentError, reading

MAX_FILES = 64
"""Files that are open at a time beside the first."""

MAX_TRIED = 20_000
"""Times that another file is opened, or looked for in vain, sources of virtual datasets included."""

MAX_DEPTH = 16
"""Links from file to file on the way from the first file to another."""

MAX_LINKS_FOLLOWED = 64
"""Links on the way to one object; HDF5 itself gives up after 16."""

_OF_THE_MOMENT = (ShortReadError, SourceChangedError)
"""Errors that say nothing of the file, like those of a connection."""


@dataclass(slots=True)
class HDF5File:
    """One open file.

    Attributes
    ----------
    opened : OpenFile
        The file.
    location : str
        An absolute path or a URL: what names in the file count from.
    number : int
        0 for the file that references are made for, then in the order in which files were met.
    depth : int
        Files on the way to it.
    inventory : Inventory
        Its objects.
    """

    opened: OpenFile
    location: str
    number: int
    depth: int
    inventory: Inventory

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return without_query(self.location).rpartition("/")[2]

    @property
    def is_judged(self) -> bool:
        """Whether h5py reads the file where it lies, so that it finds others beside it."""
        return self.opened.path is not None and not is_remote(self.location)

    def dataset(self, found: StoredObject) -> h5py.Dataset:
        """Open a dataset of the file.

        Raises
        ------
        CannotRepresentError
            When h5py cannot.
        """
        with reading():
            return h5py.Dataset(h5d.open(self.opened.file.id, encode_name(absolute(found.path))))


class Place(NamedTuple):
    """An object of one of the files."""

    file: HDF5File
    found: StoredObject

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from every other object."""
        return self.file.number, self.found.address


class LinkedFiles:
    """All files of one generation.

    Parameters
    ----------
    first : OpenFile
        The file that references are made for.
    stack : contextlib.ExitStack
        Closes the others.
    allow_external : bool
        Whether they may lie outside its folder.
    """

    def __init__(self, first: OpenFile, stack: contextlib.ExitStack, *, allow_external: bool) -> None:
        self.first = HDF5File(first, first.source.url, 0, 0, take_inventory(first.file.id))
        self.neighbourhood = Neighbourhood(first.source.url, allow_external)
        self._stack = stack
        self._open = {_identity(self.first.location): self.first}
        self._failed: dict[str, tuple[type[CannotRepresentError], str]] = {}
        self._numbers = 0

    def other(self, name: str, holder: HDF5File) -> HDF5File:
        """A file that another one names; it stays open.

        Raises
        ------
        MissingFileError
            When it is not there.
        CannotRepresentError
            When it must not or cannot be read.
        """
        location = self.neighbourhood.locate(name, holder.location)
        known = self._known(location)
        if known is not None:
            return known
        if len(self._open) > MAX_FILES:
            raise CannotRepresentError(
                f"the file {printable(name)}: links lead to more than {MAX_FILES} files"
            )
        if holder.depth >= MAX_DEPTH:
            raise CannotRepresentError(
                f"the file {printable(name)}: links lead from file to file more than {MAX_DEPTH} times"
            )
        with contextlib.ExitStack() as closing:
            file = closing.enter_context(self._opened(location, name, holder.depth + 1))
            self._stack.enter_context(closing.pop_all())
        self._open[_identity(location)] = file
        return file

    @contextlib.contextmanager
    def borrowed(self, name: str, holder: HDF5File) -> Iterator[HDF5File]:
        """A file that is closed again, unless it was open already; raises as `other` does."""
        location = self.neighbourhood.locate(name, holder.location)
        known = self._known(location)
        if known is not None:
            yield known
            return
        with self._opened(location, name, holder.depth + 1) as file:
            yield file

    def _known(self, location: str) -> HDF5File | None:
        if location in self._failed:
            kind, reason = self._failed[location]
            raise kind(reason)
        return self._open.get(_identity(location))

    @contextlib.contextmanager
    def _opened(self, location: str, name: str, depth: int) -> Iterator[HDF5File]:
        if self._numbers + len(self._failed) >= MAX_TRIED:
            raise CannotRepresentError(
                f"the file {printable(name)}: more than {MAX_TRIED:,} other files are named"
            )
        with contextlib.ExitStack() as stack:
            try:
                opened = stack.enter_context(open_source(location, None))
                inventory = take_inventory(opened.file.id)
            except ShadowzarrError as error:
                if getattr(error, "transient", False) or isinstance(
                    error, ShortReadError | SourceChangedError
                ):
                    raise  # that says something of the connection or the moment, and nothing of the file
                kind = MissingFileError if isinstance(error, SourceNotFoundError) else CannotRepresentError
                self._failed[location] = kind, f"the file {printable(name)}: {error}"
                raise kind(self._failed[location][1]) from error
            self._numbers += 1
            yield HDF5File(opened, opened.source.url, self._numbers, depth, inventory)

    def follow(self, link: Link, holder: HDF5File) -> Place:
        """The object that an external link leads to; raises as `other` does, or when nothing is there."""
        other = self.other(link.file, holder)
        place = self.resolve(Place(other, other.inventory.root), link.target)
        if place is None:
            raise CannotRepresentError(
                f"nothing is at {printable(link.target)} in the file {printable(link.file)}"
            )
        return place

    def resolve(self, start: Place, target: str) -> Place | None:
        """The object that a path leads to, through links of every kind; None when there is none.

        Parameters
        ----------
        start : Place
            The group from which a relative path counts.
        target : str
            The path.

        Raises
        ------
        MissingFileError, CannotRepresentError
            When the path leads through another file that is not there, or must not be read.
        """
        at = _root(start.file) if target.startswith("/") else start
        todo = deque(target.split("/"))
        followed = 0
        while todo:
            name = todo.popleft()
            link = at.found.links.get(name)
            if name in ("", "."):
                continue
            if link is None or link.kind == "user":
                return None
            if link.kind == "hard":
                found = at.file.inventory.objects.get(link.address)
                if found is None:
                    return None
                at = Place(at.file, found)
                continue
            followed += 1
            if followed > MAX_LINKS_FOLLOWED:
                return None
            todo.extendleft(reversed(link.target.split("/")))
            if link.kind == "external":
                at = _root(self.other(link.file, at.file))
            elif link.target.startswith("/"):
                at = _root(at.file)
        return at


def _root(file: HDF5File) -> Place:
    return Place(file, file.inventory.root)


def _identity(location: str) -> object:
    """What tells a file from others under whatever name."""
    if is_remote(location):
        return location
    status = Path(os.path.realpath(location)).stat()
    return status.st_dev, status.st_ino
