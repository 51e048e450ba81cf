"""The original, as h5py shows it: names, links, objects and what references lead to.

Says of every name what it is. An object is known by its file and its address there, so that all its names
are one. Links are followed here and not by h5py, which opens the wrong file through a file object; other
files are found by ``neighbours``.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import h5py

from ...access.locations import is_remote, without_query
from ...errors import DamagedSourceError, NotHDF5Error, ShadowzarrError, SourceError, SourceNotFoundError
from ..source_file import SourceFile, open_source_file
from .elsewhere import Elsewhere, is_elsewhere, other_names, source_names
from .neighbours import MisleadingError, MissingNeighbourError, Neighbours, NotToBeReadError

Identity = tuple[int, int]
"""A file's serial number in this process and an object's address in it."""

READ_ERRORS = (OSError, RuntimeError, TypeError, ValueError, KeyError, MemoryError, NotImplementedError)
"""What h5py raises for an object that it cannot read."""


MOST_LINKS = 64
MOST_FILES = 128
MOST_DEPTH = 16
"""Links on the way to an object, files that are open, virtual datasets inside one another."""


class LinkKind(Enum):
    """What a name in a group is."""

    HARD = "hard link"
    SOFT = "soft link"
    EXTERNAL = "external link"
    OTHER = "user-defined link"


@dataclass(frozen=True)
class Child:
    """One name in a group.

    Attributes
    ----------
    name : str
        The name.
    kind : LinkKind
        What kind of link it is.
    identity : tuple of int or None
        Of a hard link: the object.
    target : str
        Of another link: where it points, as the file says.
    file : str
        Of an external link: the other file, as the file says.
    """

    name: str
    kind: LinkKind
    identity: Identity | None = None
    target: str = ""
    file: str = ""


class OriginalFile:
    """An open HDF5 file, and those that it leads to.

    Parameters
    ----------
    file : h5py.File
        Opened for reading.
    location : str
        Where it is: an absolute path, which h5py reads itself, or a URL.
    allow_external : bool
        Whether files outside the file's own folder may be read.
    stack : contextlib.ExitStack
        Closes the other files.
    """

    def __init__(
        self, file: h5py.File, location: str, stack: contextlib.ExitStack, *, allow_external: bool = False
    ) -> None:
        self.file = file
        self.location = location
        self._neighbours = Neighbours(location, allow_external=allow_external)
        self._stack = stack
        self._files = {location: file}
        self._locations = {_identity(file.id)[0]: location}
        self._groups: dict[str, Any] = {"": file}
        self._identities: dict[str, Identity | None] = {}

    def identity(self, item: Any) -> Identity:
        """Which object an h5py object is."""
        return _identity(item.id)

    def children(self, group: h5py.Group) -> Iterator[Child]:
        """The names in a group, each with what it is; nothing is opened."""
        fileno, _ = _identity(group.id)
        for name in group:
            try:
                yield self._child(group, decoded_name(name), fileno)
            except READ_ERRORS:  # a damaged group lists what it does not find
                yield Child(decoded_name(name), LinkKind.OTHER)

    def child(self, group: h5py.Group, name: str) -> Child:
        """One name in a group; raises what h5py raises when there is none."""
        return self._child(group, name, _identity(group.id)[0])

    def _child(self, group: h5py.Group, name: str, fileno: int) -> Child:
        raw = raw_name(name)
        info = group.id.links.get_info(raw)
        if info.type == h5py.h5l.TYPE_HARD:
            return Child(name, LinkKind.HARD, identity=(fileno, info.u))
        if info.type == h5py.h5l.TYPE_SOFT:
            target = group.id.links.get_val(raw).decode("utf-8", "surrogateescape")
            return Child(name, LinkKind.SOFT, target=target)
        if info.type == h5py.h5l.TYPE_EXTERNAL:
            link = group.get(raw, getlink=True)
            return Child(name, LinkKind.EXTERNAL, target=link.path, file=str(link.filename))
        return Child(name, LinkKind.OTHER)

    def identity_at(self, path: str) -> Identity | None:
        """The object that a path leads to, through links if need be; None when it leads nowhere."""
        if path not in self._identities:
            item = self._found(path)
            self._identities[path] = self.identity(item) if item is not None else None
        return self._identities[path]

    def _found(self, path: str) -> Any:
        """The object at a path from the root; None when there is none that may be read."""
        plain = "/".join(part for part in path.split("/") if part not in ("", "."))
        parent, _, name = plain.rpartition("/")
        with contextlib.suppress(*READ_ERRORS, NotToBeReadError):
            group = self._groups.get(parent)
            if group is None:
                group = self._groups[parent] = self.followed(self.file, parent)
            return self.followed(group, name)
        return None

    def followed(self, start: h5py.Group, path: str) -> Any:
        """The object that a path leads to, through links of every kind.

        Parameters
        ----------
        start : h5py.Group
            Where a relative path begins.
        path : str
            The path; from the root of the group's own file when it begins with a slash.

        Raises
        ------
        KeyError
            When it leads nowhere; h5py raises its own errors besides.
        NotToBeReadError
            When it leads into a file that must not be read.
        """
        at = start.file["/"] if path.startswith("/") else start
        todo, links = path.split("/"), 0
        while todo:
            name = todo.pop(0)
            if name in ("", "."):
                continue
            if not isinstance(at, h5py.Group):
                raise KeyError(f"{path} leads through a dataset")
            if not at.id.links.exists(raw_name(name)):
                raise KeyError(f"{path} leads nowhere: there is no {name!r}")
            child = self.child(at, name)
            if child.kind is LinkKind.HARD:
                at = at[raw_name(name)]
                continue
            links += 1
            if links > MOST_LINKS or child.kind is LinkKind.OTHER:
                raise KeyError(f"{path} leads through links that cannot be followed")
            todo = child.target.split("/") + todo
            if child.kind is LinkKind.EXTERNAL:
                at = self._other(child.file, at)
            elif child.target.startswith("/"):
                at = at.file["/"]
        return at

    def _other(self, name: str, holder: Any, stack: contextlib.ExitStack | None = None) -> h5py.Group:
        """The root of a file that another one names; a stack closes it early, and lifts the limit."""
        location = self._neighbours.locate(name, self.location_of(holder))
        if location not in self._files:
            if stack is None and len(self._files) > MOST_FILES:
                raise NotToBeReadError(f"links lead to more than {MOST_FILES} files")
            try:
                file = (stack or self._stack).enter_context(_opened(location))
            except SourceNotFoundError as error:
                raise MissingNeighbourError(f"the file it names ({name}) is not there") from error
            except (ShadowzarrError, OSError) as error:
                raise NotToBeReadError(f"the file it names ({name}) cannot be opened: {error}") from error
            fileno = _identity(file.id)[0]
            known = self._locations.setdefault(fileno, location)
            self._files[location] = self._files.get(known, file)
            if stack is not None:
                stack.callback(self._files.pop, location, None)
        return self._files[location]["/"]

    def location_of(self, item: Any) -> str:
        """Where the file of an object is."""
        return self._locations[_identity(item.id)[0]]

    def has_attribute(self, path: str, name: str) -> bool:
        """Whether the object at a path has an attribute; an empty name stands for any."""
        item = self._found(path)
        if item is None:
            return False
        with contextlib.suppress(*READ_ERRORS):
            return raw_name(name) in item.attrs if name not in ("", "*") else True
        return name in ("", "*")

    def target(self, reference: h5py.Reference, holder: Any) -> Identity | None:
        """The object that a reference leads to; None for a null or dangling one."""
        if not reference:
            return None
        with contextlib.suppress(*READ_ERRORS):
            return _identity(h5py.h5r.dereference(reference, holder.id))
        return None

    def readable(self, dataset: h5py.Dataset) -> Any:
        """A dataset to read values from, wherever they are.

        A virtual dataset, and one in raw files, is read by h5py where it is a local path and every file
        that HDF5 would open is one that may be read. Of a URL its values are put together from the files
        (``elsewhere``). The handle that is given is closed when another one has to be opened.

        Raises
        ------
        NotToBeReadError
            When there is no way to read it.
        """
        if not is_elsewhere(dataset):
            return dataset
        try:
            self._check_sources(dataset, MOST_DEPTH)
        except MisleadingError:
            return self._put_together(dataset)
        if dataset.is_virtual:
            return dataset
        access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
        access.set_efile_prefix(b"${ORIGIN}")
        file, name = dataset.file.id, raw_name(dataset.name)
        h5py.h5i.dec_ref(dataset.id)  # HDF5 refuses another prefix while the dataset is open
        return h5py.Dataset(h5py.h5d.open(file, name, access))

    def _put_together(self, dataset: h5py.Dataset) -> Elsewhere:
        return Elsewhere(
            dataset, lambda name, path: self.source(dataset, name, path, self._stack), self._raw_file
        )

    def source(self, dataset: h5py.Dataset, name: str, path: str, stack: contextlib.ExitStack) -> Any:
        """A source of a virtual dataset; None when there is none, so that HDF5 shows the fill value."""
        try:
            root = dataset.file["/"] if name == "." else self._other(name, dataset, stack)
            return self.followed(root, f"/{path}")
        except (KeyError, MissingNeighbourError):
            return None

    def _raw_file(self, dataset: h5py.Dataset, name: str) -> str:
        return self._neighbours.locate(name, self.location_of(dataset), by_last_part=False)

    def _check_sources(self, dataset: h5py.Dataset, depth: int) -> None:
        """Raise when HDF5 would open a file for a dataset that must not be read, or not the right one."""
        holder = self.location_of(dataset)
        if not dataset.is_virtual:
            for name in other_names(dataset):
                self._raw_file(dataset, name)
                if is_remote(holder) or (depth < MOST_DEPTH and not Path(name).is_absolute()):
                    raise MisleadingError(f"HDF5 looks for {name} elsewhere")
            return
        if not depth:
            raise NotToBeReadError(f"more than {MOST_DEPTH} virtual datasets inside one another")
        for name, path in source_names(dataset):
            if is_remote(holder) and name != ".":
                raise MisleadingError(f"HDF5 would take the same file for {name}")
            with contextlib.ExitStack() as stack:
                source = self.source(dataset, name, path, stack)
                if source is None and name != "." and (Path(name).exists() or Path(Path(name).name).exists()):
                    raise MisleadingError(f"HDF5 would take {name} from the working folder")
                if source is not None and is_remote(holder) and self.location_of(source) != holder:
                    raise MisleadingError(f"HDF5 would look for {path} in the same file")
                if isinstance(source, h5py.Dataset) and is_elsewhere(source):
                    self._check_sources(source, depth - 1)


def decoded_name(name: str | bytes) -> str:
    """A name as text; h5py gives one that is not UTF-8 as bytes, which become surrogates."""
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")


def raw_name(name: str | bytes) -> bytes:
    """A name's bytes in the file, by which h5py finds it whatever they are."""
    return name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")


def _identity(opened: Any) -> Identity:
    """Of an open object; the old call, because ``h5o.get_info`` walks the chunk index of a dataset."""
    status = h5py.h5g.get_objinfo(opened)
    low, high = status.objno
    return int(status.fileno[0]), int(low) | int(high) << 64


@contextlib.contextmanager
def open_original_file(file: SourceFile, *, allow_external: bool = False) -> Iterator[OriginalFile]:
    """Open the file that references are compared with.

    Parameters
    ----------
    file : SourceFile
        Its bytes.
    allow_external : bool
        Whether other files that it names may be read outside its folder.

    Raises
    ------
    NotHDF5Error, DamagedSourceError
        When it cannot be opened.
    """
    _load_filters()
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(_open_file(file))
        yield OriginalFile(opened, file.location, stack, allow_external=allow_external)


@contextlib.contextmanager
def _opened(location: str) -> Iterator[h5py.File]:
    with open_source_file(location) as file, _open_file(file) as opened:
        yield opened


def _load_filters() -> None:
    """Filters that h5py lacks, when they are installed; importing them is what makes them known."""
    with contextlib.suppress(ImportError):
        importlib.import_module("hdf5plugin")


def _open_file(file: SourceFile) -> h5py.File:
    name = without_query(file.location)
    try:
        return h5py.File(file.location if file.stream is None else file.stream, "r")
    except SourceError:
        raise
    except OSError as error:
        if file.stream is None and not h5py.is_hdf5(file.location):
            raise NotHDF5Error(f"{name} is not an HDF5 file") from error
        raise DamagedSourceError(f"{name} cannot be opened as HDF5: {error}") from error
