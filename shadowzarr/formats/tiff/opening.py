"""Letting tifffile open a file and find its series, after what it would take for true was looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..._optional import require
from ...errors import DamagedSourceError, ShadowzarrError, UnsupportedError
from .ome_claims import check_ome, split
from .ome_files import join_files
from .reasons import short_reason
from .stored_file import StoredFile
from .stored_files import StoredFiles


@contextlib.contextmanager
def open_tiff(file: StoredFile) -> Iterator[Any]:
    """Open a file with tifffile.

    Raises
    ------
    DamagedSourceError
        When it cannot.
    """
    tifffile = require("tifffile", extra="tiff")
    with _damage(file):
        if file.path is not None:
            tif = tifffile.TiffFile(file.path)
        else:
            tif = tifffile.TiffFile(file.handle, name=file.shown.rpartition("/")[2], offset=0)
    with contextlib.closing(tif):
        yield tif


def find_series(tif: Any, files: StoredFiles) -> list[Any]:
    """The series of a file, as tifffile finds them.

    Parameters
    ----------
    tif : TiffFile
        The file.
    files : StoredFiles
        It and those beside it; files that OME metadata name are looked at before tifffile reads them.

    Raises
    ------
    DamagedSourceError
        When tifffile cannot understand the file.
    UnsupportedError
        When OME metadata name files elsewhere.
    """
    main = files.main
    with _damage(main):
        others = _files_of_ome(tif, main) if tif.is_ome else {}
        if main.path is None and others:
            return join_files(tif, others, files)
        for path in _inside(main, others):
            files.at(path)
        return list(tif.series)


def _files_of_ome(tif: Any, main: StoredFile) -> dict[str, str]:
    """UUIDs of the other files that OME metadata name, by their names."""
    try:
        uuids = check_ome(tif.ome_metadata or "")
    except DamagedSourceError as error:
        raise DamagedSourceError(f"{main.shown} is damaged: {error}") from error
    own = main.shown.rpartition("/")[2].lower()
    return {name: uuid for name, uuid in uuids.items() if name.lower() != own}


def _inside(main: StoredFile, names: Iterable[str]) -> list[Path]:
    """Local files of these names that are there."""
    if main.path is None:
        return []
    inside, outside = split(main.path.parent, names)
    if outside:
        raise UnsupportedError(
            f"{main.shown} has planes in {outside[0]!r}, outside its folder; put all files into one folder"
        )
    return inside


@contextlib.contextmanager
def _damage(file: StoredFile) -> Iterator[None]:
    try:
        yield
    except ShadowzarrError:
        raise
    except Exception as error:  # tifffile raises whatever a damaged file makes it meet
        raise DamagedSourceError(
            f"{file.shown} is damaged, or of a kind that tifffile does not read: {short_reason(error)}"
        ) from error
