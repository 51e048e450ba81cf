"""LocalCache: bytes of remote files kept on this machine, for any number of threads and processes.

One SQLite database in WAL mode: a process that is killed leaves what it had committed, and others read
on. Ranges are kept under the identity of their file, its URL without query and its ETag, so that a file
that changed never gets old bytes; a file without a strong ETag is not kept at all. A damaged row is
noticed by its checksum and dropped. When the cache itself fails, files are read without it and a
warning says so.
"""

from __future__ import annotations

import os
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import OutputError, UsageError
from ..refs.byte_range import FileRange
from . import cache_database
from .cache_database import FILE_NAME, Connections, transaction
from .locations import is_remote
from .source_identity import Buffer, Source

DEFAULT_FOLDER = Path("~/.shadowzarr/cache")

PACKAGE = str(Path(__file__).parents[1])
"""Warnings name the line that is not in here."""


class CacheWarning(UserWarning):
    """The cache could not be used; files are read without it."""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds.

    Attributes
    ----------
    path : Path
        The database.
    nbytes : int
        Bytes of ranges.
    ranges, sources : int
        Number of ranges, and of files that they are of.
    on_disk : int
        Bytes that the database takes.
    """

    path: Path
    nbytes: int
    ranges: int
    sources: int
    on_disk: int


class LocalCache:
    """Keeps ranges of remote files on this machine.

    It may be used by many threads and processes at once, pickled, and carried over a fork. The folder
    should be on a local disk: SQLite's WAL mode does not work over a network.

    Parameters
    ----------
    folder : path, optional
        Where it is; made when it is not there.
    max_size_bytes : int, optional
        The most bytes to keep, least recently used ones going first; no limit by default.
    """

    def __init__(
        self, folder: str | os.PathLike[str] = DEFAULT_FOLDER, *, max_size_bytes: int | None = None
    ) -> None:
        if max_size_bytes is not None and max_size_bytes < 0:
            raise UsageError(f"max_size_bytes is {max_size_bytes}; expected 0 or more, or None for no limit")
        self.path = Path(folder).expanduser().absolute() / FILE_NAME
        self.max_size_bytes = max_size_bytes
        self._connections = Connections()
        self._has_warned = False

    def __repr__(self) -> str:
        limit = "" if self.max_size_bytes is None else f", max_size_bytes={self.max_size_bytes}"
        return f"LocalCache({str(self.path.parent)!r}{limit})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocalCache) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (str(self.path.parent), self.max_size_bytes)

    def keeps(self, source: Source | None) -> bool:
        """Whether ranges of a file are kept: a remote one with a strong ETag, so that changes are noticed.

        Parameters
        ----------
        source : Source or None
            The file; None for one of which nothing is known.
        """
        return source is not None and source.if_match is not None and is_remote(source.url)

    def get_many(self, source: Source, parts: Sequence[FileRange]) -> list[Buffer | None]:
        """The bytes of ranges, each None when they are not kept; ranges within kept ones are found too.

        Parameters
        ----------
        source : Source
            The file.
        parts : sequence of FileRange
            Ranges of it.
        """
        return self._safely(lambda database: cache_database.get(database, source, parts), [None] * len(parts))

    def put_many(self, source: Source, parts: Sequence[FileRange], data: Sequence[Buffer]) -> None:
        """Keep the bytes of ranges, and drop the least recently used ones beyond the limit.

        Parameters
        ----------
        source : Source
            The file.
        parts : sequence of FileRange
            Ranges of it.
        data : sequence of buffer
            The bytes of each.
        """
        self._safely(
            lambda database: cache_database.put(database, source, parts, data, self.max_size_bytes), None
        )

    def info(self) -> CacheInfo:
        """What it holds.

        Raises
        ------
        OutputError
            When the database cannot be read.
        """
        if not self.path.exists():
            return CacheInfo(self.path, 0, 0, 0, 0)
        with self._speaking() as database:
            nbytes, count = database.execute("SELECT nbytes, count FROM total").fetchone()
            (sources,) = database.execute("SELECT COUNT(DISTINCT source) FROM ranges").fetchone()
        return CacheInfo(self.path, nbytes, count, sources, sum(map(_size, _files(self.path))))

    def clear(self) -> None:
        """Drop everything and give the space back; others may go on using it.

        Raises
        ------
        OutputError
            When the database cannot be changed.
        """
        if not self.path.exists():
            return
        with self._speaking() as database:
            with transaction(database):
                database.execute("DELETE FROM ranges")
                database.execute("DELETE FROM sources")
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _speaking(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._connections.use(self.path) as database:
                yield database
        except (sqlite3.Error, OSError) as error:
            raise OutputError(f"the cache {self.path} cannot be used: {error}") from error

    def _safely[T](self, use: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        try:
            with self._connections.use(self.path) as database:
                return use(database)
        except (sqlite3.Error, OSError, OverflowError, UnicodeError) as error:
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(
                    f"the cache {self.path} cannot be used ({error}); files are read without it: name "
                    "another folder, or remove this file when it is damaged",
                    CacheWarning,
                    skip_file_prefixes=(PACKAGE,),
                )
            return otherwise


def _restore(folder: str, max_size_bytes: int | None) -> LocalCache:
    return LocalCache(folder, max_size_bytes=max_size_bytes)


def _files(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
