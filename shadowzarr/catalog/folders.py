"""A folder of files as a collection: what is in it, below it, and where references say that it is.

The files of a recording that NEO reads are one asset, called as its folder or its first file
(`recording_files`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from ..errors import ReadError, UsageError
from ..recognition import find_format
from ..recording_files import RecordingFiles, file_recordings, folder_recording
from ..refs.byte_range import FileRange
from .asset_names import DIRECTORY_SUFFIX
from .assets import CatalogAsset
from .file_assets import FoundFile, file_assets
from .globs import matches_any
from .request import FolderRequest

ZARR_SUFFIX = ".zarr"
"""Folders that are Zarr stores, which need no references."""

SHARED_SUFFIXES = (".nc", ".mat")
"""Endings of HDF5 files (NetCDF-4, MATLAB 7.3) that files of older formats have too: the content is asked."""


def check_folder(request: FolderRequest) -> None:
    """Refuse a folder that is none.

    Raises
    ------
    UsageError
        When there is no such folder.
    """
    if not request.path.is_dir():
        what = "is no folder" if request.path.exists() else "does not exist"
        raise UsageError(f"the folder {request.path} (of {request.name}) {what}")


def list_folder(request: FolderRequest, *, outputs: Collection[Path] = ()) -> list[CatalogAsset]:
    """List the files and recordings in a folder and below it as assets.

    Names that begin with a dot, links to folders, references and what lies in an output are no part of it.

    Parameters
    ----------
    request : FolderRequest
    outputs : collection of Path
        Folders that a run writes to, which may lie in this one.

    Raises
    ------
    ReadError
        When a folder in it cannot be listed, unless an exclude pattern covers all of that.
    """
    walk = _Walk(request, frozenset(outputs))
    return file_assets(request.name, walk.files(request.path, ""), identity=request.identity)


class _Walk:
    def __init__(self, request: FolderRequest, outputs: frozenset[Path]) -> None:
        self._request = request
        self._outputs = outputs
        self._taken: set[Path] = set()
        """Files that are parts of recordings."""
        self._recorded: set[Path] = set()
        """Folders in which NEO looks for files of one recording, however deep."""

    def files(self, folder: Path, path: str) -> Iterator[FoundFile]:
        """The files of a folder; ``path`` is its own, with a slash at its end when it is not the first."""
        entries = self._entries(folder, path)
        yield from self._recordings(folder, path, entries)
        for entry in entries:
            name = path + entry.name
            if not entry.is_dir(follow_symlinks=False):
                if Path(entry.path) not in self._taken and not entry.is_dir():  # a link may lead back here
                    yield self._found(name)
            elif entry.name.lower().endswith(ZARR_SUFFIX):
                yield FoundFile(name, entry.path, entry.path, kind="zarr")
            elif Path(entry.path) not in self._outputs:
                yield from self.files(Path(entry.path), f"{name}/")

    def _entries(self, folder: Path, path: str) -> list[os.DirEntry[str]]:
        try:
            found = sorted(os.scandir(folder), key=lambda entry: entry.name)
            return [
                each
                for each in found
                if not each.name.startswith(".") and not each.name.endswith(DIRECTORY_SUFFIX)
            ]
        except OSError as error:
            if path and matches_any(path.rstrip("/"), self._request.rules.exclude):
                return []
            raise ReadError(
                f"the folder {folder} cannot be listed: {error.strerror or error}; exclude it with "
                f"{path or '**/'}** when nothing in it is wanted"
            ) from error

    def _recordings(self, folder: Path, path: str, entries: list[os.DirEntry[str]]) -> Iterator[FoundFile]:
        """The recording that a folder is, and those that begin in it."""
        names = [entry.name for entry in entries]
        if not self._recorded.intersection(folder.parents):
            whole = folder_recording(folder, names)
            if whole is not None:
                self._taken.update(whole.parts)
                self._recorded.update([folder] if whole.holds_folders else [])
                yield self._recording(path.rstrip("/"), whole)
        files = [
            entry.name for entry in entries if Path(entry.path) not in self._taken and not entry.is_dir()
        ]
        for each in file_recordings(folder, files):
            self._taken.update(each.parts)
            yield self._recording(path + each.place.name, each)

    def _recording(self, name: str, found: RecordingFiles) -> FoundFile:
        parts = tuple(map(str, found.parts))
        if name:
            return replace(self._found(name), kind="recording", parts=parts)
        place = str(self._request.path)  # all of the collection is one recording
        return FoundFile(
            self._request.path.name, place, self._request.url_prefix or place, kind="recording", parts=parts
        )

    def _found(self, name: str) -> FoundFile:
        place = os.path.join(self._request.path, *name.split("/"))  # noqa: PTH118 - a location is a string
        prefix = self._request.url_prefix
        url = f"{prefix.rstrip('/')}/{quote(os.fsencode(name))}" if prefix else place
        is_other = name.lower().endswith(SHARED_SUFFIXES) and _is_of_no_known_format(Path(place))
        return FoundFile(name, place, url, kind="other" if is_other else "blob")


def _is_of_no_known_format(path: Path) -> bool:
    """Whether the content says so; what is wrong with a file that cannot be read shows when it is indexed."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return find_format(partial(_ranges_of, file), path.stat().st_size) is None
    except OSError:
        return False


def _ranges_of(file: BinaryIO, ranges: Sequence[FileRange]) -> list[bytes]:
    return [os.pread(file.fileno(), each.length, each.offset) for each in ranges]
