"""The SQLite database of a `LocalCache`: its connections, its tables, and what is asked of them.

No kept range of a source lies within another one: sorted by their start they are then sorted by their
end too, so that of all ranges that start before a byte the last one reaches furthest.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet, finalize

from ..refs.byte_range import FileRange
from .locations import without_query
from .source_identity import Buffer, Source

FILE_NAME = "ranges-1.sqlite"
"""The number is that of the tables below."""

_BUSY = 60.0  # seconds to wait for another process that writes
_TOUCH = 10.0  # seconds within which a further use of a range is not written down
_MAX_LENGTH = 900 * 2**20  # SQLite holds at most 1 GB in one value
_SCHEMA = """
CREATE TABLE IF NOT EXISTS sources (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, etag TEXT NOT NULL, UNIQUE (url, etag));
CREATE TABLE IF NOT EXISTS ranges (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL,
    used REAL NOT NULL, checksum INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (source, start));
CREATE INDEX IF NOT EXISTS by_use ON ranges (used, length);
CREATE TABLE IF NOT EXISTS total (
    id INTEGER PRIMARY KEY CHECK (id = 0), nbytes INTEGER NOT NULL, count INTEGER NOT NULL);
INSERT OR IGNORE INTO total VALUES (0, 0, 0);
CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON ranges BEGIN
    UPDATE total SET nbytes = nbytes + NEW.length, count = count + 1; END;
CREATE TRIGGER IF NOT EXISTS dropped AFTER DELETE ON ranges BEGIN
    UPDATE total SET nbytes = nbytes - OLD.length, count = count - 1; END;
"""
_LAST_TABLE = "dropped"  # made last: where it is, all is
_FIND = """SELECT id, start, length, used, checksum, data FROM ranges
    WHERE source = ? AND start <= ? ORDER BY start DESC LIMIT 1"""
_REACH = "SELECT start + length FROM ranges WHERE source = ? AND start <= ? ORDER BY start DESC LIMIT 1"
_INSERT = "INSERT INTO ranges (source, start, length, used, checksum, data) VALUES (?, ?, ?, ?, ?, ?)"


class Connections(threading.local):
    """One connection per thread to the database of a file.

    SQLite must not be forked: all connections of a process are closed before it forks, and made again
    by whoever needs one afterwards.
    """

    def __init__(self) -> None:
        self._open: _Connection | None = None

    @contextmanager
    def use(self, path: Path) -> Iterator[sqlite3.Connection]:
        """The connection of this thread, until the block ends."""
        with _GATE.passed():
            if self._open is None or not self._open.is_at(path):
                self._open = _Connection(path)
            try:
                yield self._open.database
            except sqlite3.Error:
                self._open.close()  # whatever state it is in
                raise


class _Connection:
    """An open database, closed with its last reference or before a fork."""

    def __init__(self, path: Path) -> None:
        self.database = connect(path)
        self._file = _identity(path)
        self.close = finalize(self, self.database.close)
        _OPEN.add(self)

    def is_at(self, path: Path) -> bool:
        """Whether it can be used, and somebody has not removed the file meanwhile."""
        return self.close.alive and self._file == _identity(path)


class _Gate:
    """Lets any number of threads use databases, or one that forks while none does."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0

    @contextmanager
    def passed(self) -> Iterator[None]:
        with self._condition:
            self._inside += 1
        try:
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify_all()

    def shut(self) -> None:
        self._condition.acquire()
        while self._inside:
            self._condition.wait()

    def open(self) -> None:
        self._condition.release()


_OPEN: WeakSet[_Connection] = WeakSet()
_GATE = _Gate()


def _before_fork() -> None:
    _GATE.shut()
    for connection in list(_OPEN):
        connection.close()


def _in_child() -> None:
    global _GATE
    _GATE = _Gate()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=lambda: _GATE.open(), after_in_child=_in_child)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def connect(path: Path) -> sqlite3.Connection:
    """Open a database, making it when it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Closed by whichever thread drops it last, or forks; used by one thread only.
    database = sqlite3.connect(path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
    try:
        _set_up(database)
    except BaseException:
        database.close()
        raise
    return database


def _set_up(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA journal_size_limit = 67108864")
    (mode,) = database.execute("PRAGMA journal_mode").fetchone()
    made = database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (_LAST_TABLE,)).fetchone()
    if mode == "wal" and made:
        return
    until = time.monotonic() + _BUSY
    while True:
        try:  # of several processes that begin at once: SQLite does not wait here by itself
            database.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
    with transaction(database):
        for statement in _statements(_SCHEMA):
            database.execute(statement)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: ``executescript`` would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """A transaction that writes; undone when the block raises."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def get(database: sqlite3.Connection, source: Source, parts: Sequence[FileRange]) -> list[Buffer | None]:
    """The bytes of ranges that are kept; a damaged one counts as not kept, and is dropped."""
    number = _source_id(database, source)
    if number is None:
        return [None] * len(parts)
    found: list[Buffer | None] = []
    used: list[int] = []
    damaged: list[int] = []
    now = time.time()
    for part in parts:
        row = database.execute(_FIND, (number, part.offset)).fetchone()
        if row is None or row[1] + row[2] < part.stop:
            found.append(None)
        elif len(row[5]) != row[2] or zlib.crc32(row[5]) != row[4]:
            damaged.append(row[0])
            found.append(None)
        else:
            first = part.offset - row[1]
            found.append(memoryview(row[5])[first : first + part.length])
            used += [row[0]] if now - row[3] > _TOUCH else []
    if used or damaged:
        with transaction(database):
            database.executemany("UPDATE ranges SET used = ? WHERE id = ?", [(now, each) for each in used])
            database.executemany("DELETE FROM ranges WHERE id = ?", [(each,) for each in damaged])
    return found


def put(
    database: sqlite3.Connection,
    source: Source,
    parts: Sequence[FileRange],
    data: Sequence[Buffer],
    limit: int | None,
) -> None:
    """Keep ranges, and drop the least recently used ones beyond a limit."""
    most = _MAX_LENGTH if limit is None else min(limit, _MAX_LENGTH)
    checksums = [zlib.crc32(each) for each in data]
    with transaction(database):
        database.execute("INSERT OR IGNORE INTO sources (url, etag) VALUES (?, ?)", _key(source))
        number = _source_id(database, source)
        for part, value, checksum in zip(parts, data, checksums, strict=True):
            if not 0 < part.length <= most:
                continue
            reach = database.execute(_REACH, (number, part.offset)).fetchone()
            if reach is not None and reach[0] >= part.stop:
                continue
            database.execute(
                "DELETE FROM ranges WHERE source = ? AND start >= ? AND start + length <= ?",
                (number, part.offset, part.stop),
            )
            row = (number, part.offset, part.length, time.time(), checksum, value)
            database.execute(_INSERT, row)
        if limit is not None:
            _evict(database, limit)


def _evict(database: sqlite3.Connection, limit: int) -> None:
    (nbytes,) = database.execute("SELECT nbytes FROM total").fetchone()
    leaving = []
    for number, length in database.execute("SELECT id, length FROM ranges ORDER BY used, id"):
        if nbytes <= limit:
            break
        leaving.append((number,))
        nbytes -= length
    database.executemany("DELETE FROM ranges WHERE id = ?", leaving)


def _key(source: Source) -> tuple[str, str]:
    return without_query(source.url), source.etag or ""


def _source_id(database: sqlite3.Connection, source: Source) -> int | None:
    row = database.execute("SELECT id FROM sources WHERE url = ? AND etag = ?", _key(source)).fetchone()
    return None if row is None else int(row[0])
