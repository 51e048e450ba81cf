"""The file of an original: its identity, its bytes and what its content says that it is.

A remote file is read through a file object of verification's own, which whoever reads the format gets; so
knowing the format costs no request.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from ..access.locations import is_remote, without_query
from ..access.remfile import Remfile
from ..access.sources import Source, describe
from ..errors import SourceNotFoundError
from ..recognition import Format, find_format, unknown_folder, unknown_format
from ..refs.byte_range import FileRange


@dataclass(frozen=True)
class SourceFile:
    """A file that can be read.

    Attributes
    ----------
    location : str
        An absolute path, or a URL.
    stream : Remfile or None
        What a URL is read through; None for a path.
    """

    location: str
    stream: Remfile | None = None

    def format(self) -> Format:
        """What its content says that it is.

        Raises
        ------
        UnknownFormatError
            When that is no format that is known.
        """
        if self.stream is not None:
            found = _format_in(self.stream, self.location)
            self.stream.seek(0)
            return found
        with Path(self.location).open("rb") as file:
            return _format_in(file, self.location)


def identify_original(location: str) -> Source | None:
    """Size and ETag that a file has now; None when there is no such local file.

    Parameters
    ----------
    location : str
        Canonical. A local file has a size alone.
    """
    if is_remote(location):
        return _described(location)
    path = Path(location)
    return Source(location, path.stat().st_size) if path.is_file() else None


@contextlib.contextmanager
def open_source_file(location: str, found: Source | None = None) -> Iterator[SourceFile]:
    """Open a file for as long as it is compared.

    Parameters
    ----------
    location : str
        Canonical: an absolute path or a URL.
    found : Source, optional
        What `identify_original` gave, which saves asking a server again.

    Raises
    ------
    SourceNotFoundError
        When there is no such file.
    UnknownFormatError
        When it is a folder.
    """
    if not is_remote(location):
        if not Path(location).exists():
            raise SourceNotFoundError(f"{location}: there is no such file to compare with")
        if Path(location).is_dir():
            raise unknown_folder(location)
        yield SourceFile(location)
        return
    stream = Remfile(found or _described(location))
    try:
        yield SourceFile(location, stream)
    finally:
        stream.close()


def _described(url: str) -> Source:
    """Size and ETag of a remote file. Its URL may be a signed one, which is written nowhere."""
    return replace(describe(url, url=without_query(url)), url=url)


def _format_in(file: BinaryIO | Remfile, location: str) -> Format:
    def read(ranges: Sequence[FileRange]) -> list[bytes]:
        return [_read_at(file, each) for each in ranges]

    found = find_format(read, file.seek(0, 2))
    if found is None:
        raise unknown_format(location, _read_at(file, FileRange(0, 16)))
    return found


def _read_at(file: BinaryIO | Remfile, wanted: FileRange) -> bytes:
    file.seek(wanted.offset)
    return file.read(wanted.length) or b""
