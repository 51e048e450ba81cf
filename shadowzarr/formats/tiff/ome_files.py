"""An OME-TIFF whose files are at URLs: tifffile joins files of a folder only, so its series are joined here.

Each file is given the metadata as they would be in it, so that tifffile finds the planes which it holds, at
their places; what the others lack is then taken from it. OME-TIFF specification, "Multiple files".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._optional import require
from ...errors import SourceNotFoundError, UnsupportedError
from .ome_claims import count_images, with_uuid
from .stored_files import StoredFiles


class JoinedLevel:
    """A level whose pages are in several files; whatever is not said here is as in the first of them.

    Parameters
    ----------
    parts : sequence of TiffPageSeries
        The level as each file shows it, with None for pages of other files.
    """

    is_multifile = True
    dataoffset = None

    def __init__(self, parts: Sequence[Any]) -> None:
        self._first = parts[0]
        listed = zip(*(list(part) for part in parts), strict=True)
        self._pages = [next((page for page in places if page is not None), None) for places in listed]
        self.levels: list[JoinedLevel] = [self]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._first, name)

    def __len__(self) -> int:
        return len(self._pages)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pages)

    def asarray(self) -> npt.NDArray[Any]:
        """Values of all pages; 0 for those that are not there."""
        shape = self._first.keyframe.shape
        values = np.zeros((len(self), math.prod(shape)), self._first.dtype)
        for number, page in enumerate(self._pages):
            if page is not None:
                values[number] = page.asarray(maxworkers=1).reshape(-1)
        return values.reshape(self._first.shape)


def join_files(tif: Any, others: Mapping[str, str], files: StoredFiles) -> list[JoinedLevel]:
    """The series of a remote OME-TIFF of several files.

    Parameters
    ----------
    tif : TiffFile
        The first file.
    others : mapping of str to str
        UUIDs of the others, by their names.
    files : StoredFiles
        What opens them.

    Raises
    ------
    UnsupportedError
        When files describe different series, or where one is cannot be told.
    ReadError
        When a file that is there cannot be read.
    """
    xml = tif.ome_metadata
    parts = [list(tif.series)]
    for name, uuid in others.items():
        try:
            file = files.beside(name)
        except SourceNotFoundError:
            continue  # its pages are not there, as in a folder
        tifffile = require("tifffile", extra="tiff")
        other = tifffile.TiffFile(file.handle, name=name, offset=0, omexml=with_uuid(xml, uuid))
        files.read_by(other, file)
        parts.append(list(other.series))
    shapes = [[[level.shape for level in each.levels] for each in series] for series in parts]
    if shapes.count(shapes[0]) != len(shapes) or len(shapes[0]) != count_images(xml):
        raise UnsupportedError(
            f"{files.main.shown} is one of several files of an OME-TIFF, of which some hold no plane of an "
            "image or have other resolutions; make references from a local copy of all of them, with url_for"
        )
    return [_joined(each) for each in zip(*parts, strict=True)]


def _joined(parts: Sequence[Any]) -> JoinedLevel:
    levels = [JoinedLevel(each) for each in zip(*(part.levels for part in parts), strict=True)]
    levels[0].levels = levels
    return levels[0]
