"""Byte ranges of local files, with `os.pread`.

Open files are kept and reopened when another file has taken the path. Nothing is locked: a file is
closed when the last reader lets go of it.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Sequence

from ..errors import AccessDeniedError, ReadError, SourceNotFoundError
from ..refs.byte_range import FileRange
from .allowed_places import check_root
from .locations import local_path
from .source_identity import Buffer, RangeAnswer, Source, check_identity, short_read

_MAX_OPEN = 64


class LocalReader:
    """Reads ranges of local files.

    Parameters
    ----------
    roots : tuple of str, optional
        Files are read below these folders alone (`allowed_places.real_roots`); anywhere by default.
    """

    def __init__(self, *, roots: tuple[str, ...] | None = None) -> None:
        self._roots = roots
        self._files: dict[str, _OpenFile] = {}

    def __getstate__(self) -> dict[str, object]:
        return {"_roots": self._roots, "_files": {}}

    def read(self, url: str, ranges: Sequence[FileRange], *, source: Source | None = None) -> list[Buffer]:
        """Read ranges of a file, in order.

        Raises
        ------
        SourceChangedError
            When the size is not that of `source`.
        SourceNotFoundError, AccessDeniedError, ShortReadError, ReadError
            When the file cannot be read.
        RefusedPlaceError
            When it lies below none of the roots, symbolic links followed.
        """
        file = self._open(local_path(url))
        if source is not None:
            check_identity(source, size=file.size, etag=None)
        return [file.read(wanted) for wanted in ranges]

    async def read_async(
        self, url: str, ranges: Sequence[FileRange], *, source: Source | None = None
    ) -> list[Buffer]:
        """Like `read`, in a thread."""
        return await asyncio.to_thread(self.read, url, ranges, source=source)

    def read_whole(self, url: str, *, source: Source | None = None) -> Buffer:
        """Read a whole file, one and the same even when another one takes its place; errors as in `read`.

        It is not kept open: documents and index chunks are read once, and their files may have to go.
        """
        file = self._open(local_path(url), keep=False)
        if source is not None:
            check_identity(source, size=file.size, etag=None)
        return file.read(FileRange(0, file.size))

    async def read_whole_async(self, url: str, *, source: Source | None = None) -> Buffer:
        """Like `read_whole`, in a thread."""
        return await asyncio.to_thread(self.read_whole, url, source=source)

    def probe(self, url: str) -> RangeAnswer:
        """The size of a file, without a byte of it."""
        return RangeAnswer(b"", self._open(local_path(url)).size, None)

    def _open(self, path: str, *, keep: bool = True) -> _OpenFile:
        if self._roots is not None:
            path = check_root(path, self._roots)  # what is opened is what was checked
        try:
            found = os.stat(path)  # noqa: PTH116 - called for every read
            file = self._files.get(path)
            if not stat.S_ISREG(found.st_mode):  # opening a named pipe would wait for ever
                raise ReadError(f"{path}: is not a file; expected a regular file")
            if file is None or file.identity != _identity(found):
                file = _OpenFile(path)
                if not keep:
                    return file
                for oldest in list(self._files)[: max(0, len(self._files) + 1 - _MAX_OPEN)]:
                    self._files.pop(oldest, None)
                self._files[path] = file
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SourceNotFoundError(f"{path}: there is no such file") from error
        except PermissionError as error:
            raise AccessDeniedError(f"{path}: may not be read by this user") from error
        except (OSError, ValueError) as error:
            if isinstance(error, ReadError):
                raise
            raise ReadError(f"{path}: cannot be read ({error})") from error
        return file


class _OpenFile:
    """A file descriptor that is closed with its last user."""

    def __init__(self, path: str) -> None:
        self._fd = -1
        self._path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        status = os.fstat(self._fd)
        self.identity = _identity(status)
        self.size = status.st_size

    def __del__(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def read(self, wanted: FileRange) -> bytes:
        # A reference may ask for any length, and pread allocates all of it before it reads.
        there = min(wanted.length, max(0, self.size - wanted.offset))
        data = self._pread(there, wanted.offset) if there else b""
        if len(data) == wanted.length:
            return data
        parts = [data]
        came = len(data)
        while data and came < there:  # the kernel gives at most 2 GiB at once
            data = self._pread(there - came, wanted.offset + came)
            parts.append(data)
            came += len(data)
        if came < wanted.length:
            raise short_read(self._path, wanted, came, self.size)
        return b"".join(parts)

    def _pread(self, length: int, offset: int) -> bytes:
        try:
            return os.pread(self._fd, length, offset)
        except OSError as error:
            raise ReadError(f"{self._path}: cannot be read at byte {offset} ({error})") from error


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
