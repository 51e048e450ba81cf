"""The working state of the catalogue: all rows in SQLite, and which record each came from.

It is brought up to date record by record; a damaged one, or one of another version, is made anew.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from ...errors import OutputError
from ...refs.node_checks import LARGEST
from ..asset_names import printable_text
from .columns import TABLES, TABLES_VERSION, Column, Row

_STATE_VERSION = 100 * TABLES_VERSION + 1
"""Of the data base; the tables that are published have a version of their own."""


class WorkingState:
    """Rows of all tables, by the record they came from.

    Parameters
    ----------
    path : Path
        The data base; made when missing.
    anew : bool
        Whether what is there is dropped.

    Raises
    ------
    OutputError
        When it cannot be written.
    """

    def __init__(self, path: Path, *, anew: bool = False) -> None:
        self._path = path
        with _as_output_error(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if anew:
                path.unlink(missing_ok=True)
            self._connection = self._opened()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def known(self) -> dict[str, str]:
        """Records whose rows are here, by their paths relative to the output: their states."""
        return dict(self._connection.execute("SELECT path, state FROM records"))

    def replace(
        self, path: str, state: str, rows: Mapping[str, Iterable[Row]], *, problem: str | None = None
    ) -> None:
        """Put the rows of a record in place of those it had.

        Parameters
        ----------
        path : str
            The record, relative to the output.
        state : str
            Of its file, as a listing tells it (`StoredFile.state`).
        rows : mapping
            Rows of each table.
        problem : str, optional
            What of the record could not be read.
        """
        with _as_output_error(self._path):
            self._forget(path)
            cursor = self._connection.execute(
                "INSERT INTO records (path, state, problem) VALUES (?, ?, ?)", (path, state, problem)
            )
            for table, columns in TABLES.items():
                marks = ", ".join("?" * (len(columns) + 1))
                self._connection.executemany(
                    f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608 (names of our own)
                    [(cursor.lastrowid, *_values(row, columns)) for row in rows.get(table, ())],
                )

    def forget(self, path: str) -> None:
        """Drop the rows of a record that is gone."""
        with _as_output_error(self._path):
            self._forget(path)

    def commit(self) -> None:
        """Write all changes, or none of them."""
        with _as_output_error(self._path):
            self._connection.commit()

    def rows(self, table: str) -> Iterator[Row]:
        """All rows of a table, in the order of their records' paths, then as they were put in."""
        columns = TABLES[table]
        names = ", ".join(f't."{column.name}"' for column in columns)
        found = self._connection.execute(
            f"SELECT {names} FROM {table} t JOIN records r ON r.id = t.record "  # noqa: S608
            "ORDER BY r.path, t.rowid"
        )
        for values in found:
            yield {column.name: _read(value, column) for column, value in zip(columns, values, strict=True)}

    def problems(self) -> list[str]:
        """What could not be read, a line for each record."""
        found = self._connection.execute(
            "SELECT path, problem FROM records WHERE problem IS NOT NULL ORDER BY path"
        )
        return [f"{path}: {problem}" for path, problem in found]

    def _forget(self, path: str) -> None:
        found = self._connection.execute("SELECT id FROM records WHERE path = ?", (path,)).fetchone()
        if found is None:
            return
        for table in TABLES:
            self._connection.execute(f"DELETE FROM {table} WHERE record = ?", found)  # noqa: S608
        self._connection.execute("DELETE FROM records WHERE id = ?", found)

    def _opened(self) -> sqlite3.Connection:
        """The data base, made anew when it is not one of ours: everything in it can be derived again."""
        connection = sqlite3.connect(self._path)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == _STATE_VERSION:
                connection.execute("SELECT count(*) FROM records").fetchone()
                return connection
        except sqlite3.DatabaseError:
            pass  # damaged: as good as missing
        connection.close()
        self._path.unlink()
        connection = sqlite3.connect(self._path)
        try:
            _create(connection)
        except BaseException:  # a full disk, say: an open file would keep its place
            connection.close()
            raise
        return connection


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE records (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, state TEXT NOT NULL, "
        "problem TEXT)"
    )
    for table, columns in TABLES.items():
        names = ", ".join(f'"{column.name}"' for column in columns)
        connection.execute(f"CREATE TABLE {table} (record INTEGER NOT NULL REFERENCES records, {names})")
        connection.execute(f"CREATE INDEX {table}_of_record ON {table} (record)")
    connection.execute(f"PRAGMA user_version = {_STATE_VERSION}")
    connection.commit()


def _values(row: Row, columns: Sequence[Column]) -> Iterator[object]:
    for column in columns:
        value = _storable(row.get(column.name))
        yield orjson.dumps(value).decode() if isinstance(value, list) else value


def _storable(value: object) -> object:
    """Text that UTF-8 can hold, and numbers of 64 bits; a number beyond them is not told."""
    if isinstance(value, str):
        return printable_text(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return None if isinstance(value, int) and value > LARGEST else value


def _read(value: object, column: Column) -> object:
    if value is None:
        return None
    if column.is_list:
        return orjson.loads(str(value))
    return bool(value) if column.kind == "BOOLEAN" else value


@contextlib.contextmanager
def _as_output_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise OutputError(f"cannot write the catalogue's data base {path}: {error}") from error
