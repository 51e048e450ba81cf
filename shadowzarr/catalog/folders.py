"""A folder of files as a collection: what is in it, below it, and where references say that it is."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import quote

from ..errors import ReadError, UsageError
from .asset_names import DIRECTORY_SUFFIX
from .assets import CatalogAsset
from .file_assets import FoundFile, file_assets
from .globs import matches_any
from .request import FolderRequest

ZARR_SUFFIX = ".zarr"
"""Folders that are Zarr stores, which need no references."""


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
    """List the files in a folder and below it as assets.

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

    def files(self, folder: Path, path: str) -> Iterator[FoundFile]:
        """The files of a folder; ``path`` is its own, with a slash at its end when it is not the first."""
        for entry in self._entries(folder, path):
            name = path + entry.name
            if entry.name.startswith(".") or entry.name.endswith(DIRECTORY_SUFFIX):
                continue
            if not entry.is_dir(follow_symlinks=False):
                if not entry.is_dir():  # a link to a folder may lead back here
                    yield self._found(name)
            elif entry.name.lower().endswith(ZARR_SUFFIX):
                yield FoundFile(name, entry.path, entry.path, kind="zarr")
            elif Path(entry.path) not in self._outputs:
                yield from self.files(Path(entry.path), f"{name}/")

    def _entries(self, folder: Path, path: str) -> list[os.DirEntry[str]]:
        try:
            return sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if path and matches_any(path.rstrip("/"), self._request.rules.exclude):
                return []
            raise ReadError(
                f"the folder {folder} cannot be listed: {error.strerror or error}; exclude it with "
                f"{path or '**/'}** when nothing in it is wanted"
            ) from error

    def _found(self, name: str) -> FoundFile:
        place = os.path.join(self._request.path, *name.split("/"))  # noqa: PTH118 - a location is a string
        prefix = self._request.url_prefix
        return FoundFile(name, place, f"{prefix.rstrip('/')}/{quote(os.fsencode(name))}" if prefix else place)
