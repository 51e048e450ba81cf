"""The original, as h5py shows it: names, links, objects and what references lead to.

Opens the file itself, with a file object of its own, and says of every name what it is. An object is
known by its address in the file, so that all its names are one. What h5py answers wrongly through a
file object (links into other files, virtual sources, external storage) is refused here unless the file
is a local path and the other file lies in its folder.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import h5py

from ..access.locations import is_remote, without_query
from ..access.remfile import Remfile
from ..access.sources import Source, describe
from ..errors import DamagedSourceError, NotHDF5Error, SourceError, SourceNotFoundError

Identity = tuple[int, int]
"""A file's serial number in this process and an object's address in it."""

READ_ERRORS = (OSError, RuntimeError, TypeError, ValueError, KeyError, MemoryError, NotImplementedError)
"""What h5py raises for an object that it cannot read."""


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


class Original:
    """An open HDF5 file.

    Parameters
    ----------
    file : h5py.File
        Opened for reading.
    path : pathlib.Path or None
        Where it is, when h5py reads it by local path; None behind a file object.
    allow_external : bool
        Whether files outside the file's own folder may be read.
    """

    def __init__(self, file: h5py.File, path: Path | None, *, allow_external: bool = False) -> None:
        self.file = file
        self._path = path
        self._allow_external = allow_external
        self._identities: dict[str, Identity | None] = {}
        self.external_paths: set[str] = set()

    def identity(self, item: Any) -> Identity:
        """Which object an h5py object is."""
        return _identity(item.id)

    def children(self, group: h5py.Group) -> Iterator[Child]:
        """The names in a group, each with what it is; nothing is opened."""
        fileno, _ = _identity(group.id)
        for name in group:
            yield self._child(group, decoded_name(name), fileno)

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
            self._identities[path] = self._look_up(path)
        return self._identities[path]

    def _look_up(self, path: str) -> Identity | None:
        if self._path is None and any(path == at or path.startswith(f"{at}/") for at in self.external_paths):
            return None
        with contextlib.suppress(*READ_ERRORS):
            return self.identity(self.file[raw_name(path or "/")])
        return None

    def has_attribute(self, path: str, name: str) -> bool:
        """Whether the object at a path has an attribute; an empty name stands for any."""
        if self.identity_at(path) is None:
            return False
        with contextlib.suppress(*READ_ERRORS):
            attributes = self.file[raw_name(path or "/")].attrs
            return raw_name(name) in attributes if name not in ("", "*") else True
        return name in ("", "*")

    def target(self, reference: h5py.Reference, holder: Any) -> Identity | None:
        """The object that a reference leads to; None for a null or dangling one."""
        if not reference:
            return None
        with contextlib.suppress(*READ_ERRORS):
            return _identity(h5py.h5r.dereference(reference, holder.id))
        return None

    def is_judge_of(self, dataset: h5py.Dataset) -> str:
        """Why h5py must not be asked for a dataset's values; empty when it may."""
        files = _other_files(dataset)
        if not files:
            return ""
        return next((why for why in map(self.refuses, files) if why), "")

    def readable(self, dataset: h5py.Dataset) -> h5py.Dataset:
        """A dataset to read values from: external files are looked for beside the HDF5 file.

        The handle that is given is closed when another one has to be opened.
        """
        if dataset.is_virtual or not dataset.id.get_create_plist().get_external_count():
            return dataset
        access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
        access.set_efile_prefix(b"${ORIGIN}")
        file, name = dataset.file.id, raw_name(dataset.name)
        h5py.h5i.dec_ref(dataset.id)  # HDF5 refuses another prefix while the dataset is open
        return h5py.Dataset(h5py.h5d.open(file, name, access))

    def refuses(self, name: str) -> str:
        """Why another file that this one names must not be read; empty when it may."""
        if name in ("", "."):
            return ""
        if self._path is None:
            return f"h5py reads the file it names ({name}) only beside a local file"
        folder = Path(os.path.realpath(self._path.parent))
        other = Path(os.path.realpath(folder / name))
        if not self._allow_external and not other.is_relative_to(folder):
            return f"the file it names ({name}) lies outside its folder"
        return ""


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


def _other_files(dataset: h5py.Dataset) -> list[str]:
    if dataset.is_virtual:
        return [source.file_name for source in dataset.virtual_sources()]
    properties = dataset.id.get_create_plist()
    names = (properties.get_external(number)[0] for number in range(properties.get_external_count()))
    return [name.decode("utf-8", "surrogateescape") for name in names]


def identify_original(location: str) -> Source | None:
    """Size and ETag that a file has now; None when there is no such local file.

    Parameters
    ----------
    location : str
        Canonical. A local file has a size alone.
    """
    if is_remote(location):
        return describe(location, url=location)
    path = Path(location)
    return Source(location, path.stat().st_size) if path.is_file() else None


@contextlib.contextmanager
def open_original(
    location: str, *, found: Source | None = None, allow_external: bool = False
) -> Iterator[Original]:
    """Open the file that references are compared with.

    Parameters
    ----------
    location : str
        Canonical: an absolute path or a URL. A URL is read through a file object of verification's own.
    found : Source, optional
        What `identify_original` gave, which saves asking a server again.
    allow_external : bool
        Whether other files that a local one names may be read outside its folder.

    Raises
    ------
    SourceNotFoundError, NotHDF5Error, DamagedSourceError
        When the file cannot be opened.
    """
    _load_filters()
    if is_remote(location):
        with _remote(found or describe(location, url=location)) as file:
            yield Original(file, None, allow_external=allow_external)
        return
    path = Path(location)
    with _local(path) as file:
        yield Original(file, path, allow_external=allow_external)


def _load_filters() -> None:
    """Filters that h5py lacks, when they are installed; importing them is what makes them known."""
    with contextlib.suppress(ImportError):
        importlib.import_module("hdf5plugin")


def _local(path: Path) -> h5py.File:
    if not path.exists():
        raise SourceNotFoundError(f"{path}: there is no such file to compare with")
    if path.is_dir():
        raise NotHDF5Error(f"{path} is a directory; an HDF5 file is needed to compare with")
    return _opened_file(path, str(path))


@contextlib.contextmanager
def _remote(source: Source) -> Iterator[h5py.File]:
    stream = Remfile(source)
    try:
        with _opened_file(stream, without_query(source.url)) as file:
            yield file
    finally:
        stream.close()


def _opened_file(target: Any, name: str) -> h5py.File:
    try:
        return h5py.File(target, "r")
    except SourceError:
        raise
    except OSError as error:
        if isinstance(target, Path) and not h5py.is_hdf5(target):
            raise NotHDF5Error(f"{name} is not an HDF5 file") from error
        raise DamagedSourceError(f"{name} cannot be opened as HDF5: {error}") from error
