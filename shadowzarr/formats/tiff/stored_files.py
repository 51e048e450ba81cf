"""The files that the pages of a TIFF are in: one, or several as OME-TIFF allows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from ...access.archives import asset_address
from ...access.locations import without_query
from ...errors import UnsupportedError
from ..cannot_represent import CannotRepresentError
from .stored_file import StoredFile, UrlFor, open_local, open_remote


class StoredFiles:
    """Files that pages are in, each opened once.

    Parameters
    ----------
    main : StoredFile
        The file that references are made for.
    stack : contextlib.ExitStack
        What closes the others.
    url_for : callable or None
        Gives the URL under which a local path is hosted.
    """

    def __init__(self, main: StoredFile, stack: contextlib.ExitStack, url_for: UrlFor | None) -> None:
        self.main = main
        self._stack, self._url_for = stack, url_for
        self._others: dict[str, StoredFile] = {}
        self._read_by: dict[int, StoredFile] = {}

    @property
    def others(self) -> list[StoredFile]:
        """Files beside the main one that were asked for."""
        return list(self._others.values())

    def of(self, tif: Any) -> StoredFile:
        """The file that a `TiffFile` reads.

        Raises
        ------
        CannotRepresentError
            When it lies outside the folder of the main file.
        """
        if id(tif) in self._read_by:
            return self._read_by[id(tif)]
        if tif.root is tif or self.main.path is None:
            return self.main
        return self.at(Path(tif.filehandle.path))

    def at(self, path: Path) -> StoredFile:
        """A local file beside the main one; errors as for `of`."""
        main, path = self.main.path, path.resolve()
        if main is None or path == main.resolve():
            return self.main
        folder = main.parent.resolve()
        if not path.is_relative_to(folder):
            raise CannotRepresentError(f"pages of it are in {path}, outside the folder of {main.name}")
        named = main.parent / path.relative_to(folder)  # as the main file is named, through links too
        return self._opened(os.fspath(named), lambda: open_local(named, self._url_for))

    def beside(self, name: str) -> StoredFile:
        """A file beside a remote main one.

        Raises
        ------
        UnsupportedError
            When where it is cannot be told.
        ReadError
            When it cannot be read.
        """
        url = _url_beside(self.main.source.url, name)
        return self._opened(url, lambda: open_remote(url))

    def read_by(self, tif: Any, file: StoredFile) -> None:
        """Remember which file a `TiffFile` reads, and close it in the end."""
        self._read_by[id(tif)] = file
        self._stack.enter_context(contextlib.closing(tif))

    def _opened(self, name: str, open_it: Callable[[], AbstractContextManager[StoredFile]]) -> StoredFile:
        if name not in self._others:
            self._others[name] = self._stack.enter_context(open_it())
        return self._others[name]


def _url_beside(url: str, name: str) -> str:
    """URL of a file of this name in the folder of another, or below it."""
    if asset_address(url) is not None:
        raise UnsupportedError(
            f"{without_query(url)} has planes in {name!r}, and an archive's assets are named by numbers; "
            "give the URL of the object itself, or make references from a local copy of all, with url_for"
        )
    parts = name.split("/")
    if not name or "\\" in name or ":" in name or not {"", ".", ".."}.isdisjoint(parts):
        raise UnsupportedError(
            f"{without_query(url)} has planes in {name!r}, outside its folder; put all files into one folder"
        )
    split = urlsplit(url)
    return urlunsplit((split.scheme, split.netloc, f"{split.path.rpartition('/')[0]}/{quote(name)}", "", ""))
