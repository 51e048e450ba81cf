"""The files that the pages of a TIFF are in: one, or several as OME-TIFF allows."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from ..cannot_represent import CannotRepresentError
from .stored_file import StoredFile, UrlFor, open_local


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
        self._others: dict[Path, StoredFile] = {}

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
        if tif.root is tif or self.main.path is None:
            return self.main
        return self.at(Path(tif.filehandle.path))

    def at(self, path: Path) -> StoredFile:
        """A local file beside the main one; errors as for `of`."""
        path = path.resolve()
        main = self.main.path
        if main is None or path == main.resolve():
            return self.main
        if not path.is_relative_to(main.parent.resolve()):
            raise CannotRepresentError(f"pages of it are in {path}, outside the folder of {main.name}")
        if path not in self._others:
            self._others[path] = self._stack.enter_context(open_local(path, self._url_for))
        return self._others[path]
