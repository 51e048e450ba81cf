"""One file that holds pages: where it is, what references call it, and its bytes."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

from ...access.locations import without_query
from ...access.remfile import HEAD_BYTES, Remfile
from ...access.sources import Source, describe, describe_with_head
from ...errors import (
    DamagedSourceError,
    NotTIFFError,
    ReadError,
    SourceChangedError,
    SourceNotFoundError,
)
from .directories import Directories, ReadAt, form_of

_BUFFER = 512

UrlFor = Callable[[str], str]
"""Gives the URL under which a local path is hosted."""


@dataclass(slots=True)
class StoredFile:
    """A TIFF file that is open.

    Attributes
    ----------
    source : Source
        What references will name.
    shown : str
        What messages call it.
    handle : binary file
        What tifffile reads a remote file through, and we read any.
    path : pathlib.Path or None
        The file, when it is local.
    stream : Remfile or None
        Or what its bytes come through.
    directories : Directories
        Its page directories.
    """

    source: Source
    shown: str
    handle: IO[bytes]
    path: Path | None
    stream: Remfile | None
    directories: Directories

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.source.size or 0

    @property
    def identity(self) -> tuple[str, int | None, str | None]:
        """URL, size and ETag."""
        return self.source.url, self.source.size, self.source.etag

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the file; fewer at its end."""
        return reader_of(self.handle)(length, offset)


def reader_of(handle: IO[bytes]) -> ReadAt:
    """What reads so many bytes from an offset on, without moving a local file's own place."""
    with contextlib.suppress(OSError):
        return partial(os.pread, handle.fileno())

    def read(length: int, offset: int) -> bytes:
        handle.seek(offset)
        return handle.read(length)

    return read


@contextlib.contextmanager
def open_local(path: Path, url_for: UrlFor | None) -> Iterator[StoredFile]:
    """Open a local file, and walk its page directories.

    Raises
    ------
    SourceNotFoundError, NotTIFFError, DamagedSourceError, ReadError
        When it is not there, no TIFF, or cannot be read.
    SourceChangedError
        When it changes while it is open.
    """
    shown = os.fspath(path)
    _check_file(path)
    url = shown if url_for is None else url_for(shown)
    before = _state(path)
    with path.open("rb") as handle:
        size = describe(path).size
        directories = _directories(handle, size or 0, shown, None)
        yield StoredFile(Source(url, size), shown, handle, path, None, directories)
    if _state(path) != before:
        raise SourceChangedError(f"{path} changed while references to it were made; generate them again")


@contextlib.contextmanager
def open_remote(location: str) -> Iterator[StoredFile]:
    """Open a remote file, and walk its page directories, which are then in memory for tifffile.

    Raises
    ------
    ReadError, NotTIFFError, DamagedSourceError
        When it cannot be read or is no TIFF.
    """
    source, head = describe_with_head(location, HEAD_BYTES)
    shown = without_query(source.url)
    stream = Remfile(source, head=head)
    # It fills arrays of any byte order, which `Remfile` does not, and reads no more than was prefetched.
    with cast("IO[bytes]", io.BufferedReader(stream, _BUFFER)) as handle:
        directories = _directories(handle, source.size or 0, shown, stream)
        yield StoredFile(source, shown, handle, None, stream, directories)


def _directories(handle: IO[bytes], size: int, shown: str, stream: Remfile | None) -> Directories:
    read = reader_of(handle)
    head = read(4, 0)
    form = form_of(head, is_ndpi=shown.lower().endswith(".ndpi"))
    if form is None:
        raise NotTIFFError(f"{shown} is not a TIFF file: it begins with {head!r}")
    found = Directories(read, size, form, prefetch=None if stream is None else stream.prefetch)
    try:
        found.walk()
    except DamagedSourceError as error:
        raise DamagedSourceError(f"{shown} is damaged: {error}") from error
    if not found.count:
        raise DamagedSourceError(f"{shown} is damaged: {found.broken or 'it has no page directory'}")
    return found


def _check_file(path: Path) -> None:
    if not path.exists():
        raise SourceNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise NotTIFFError(f"{path} is a directory or device; expected a TIFF file")
    if not os.access(path, os.R_OK):
        raise ReadError(f"{path} may not be read; check its permissions")


def _state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino
