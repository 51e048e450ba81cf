"""Which original a location is: its content decides, and its format's module opens it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final

from ..access.source_identity import Source
from ..recognition import Format
from .hdf5.hdf5_original import open_hdf5
from .original import Original
from .source_file import SourceFile, open_source_file
from .tiff.tiff_original import open_tiff


@contextlib.contextmanager
def open_original(
    location: str, *, found: Source | None = None, allow_external: bool = False
) -> Iterator[Original]:
    """Open the file that references are compared with.

    Parameters
    ----------
    location : str
        Canonical: an absolute path or a URL.
    found : Source, optional
        What `identify_original` gave, which saves asking a server again.
    allow_external : bool
        Whether other files that it names may be read outside its folder.

    Raises
    ------
    SourceNotFoundError, UnknownFormatError, NotHDF5Error, DamagedSourceError
        When the file cannot be opened.
    MissingDependencyError
        When the library that reads its format is not installed.
    """
    with open_source_file(location, found) as file, _OPENERS[file.format()](file, allow_external) as original:
        yield original


_OPENERS: Final[dict[Format, Callable[[SourceFile, bool], AbstractContextManager[Original]]]] = {
    "hdf5": lambda file, allow_external: open_hdf5(file, allow_external=allow_external),
    "tiff": lambda file, _: open_tiff(file),
}
"""What opens a file of each format. A recording may be a folder, and ``judge`` opens it."""
