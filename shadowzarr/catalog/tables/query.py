"""Questions in SQL to a published catalogue: it is read, and nothing else is.

DuckDB answers. It may open the files of the catalogue alone, takes one question at a time, and nothing
that would change anything.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._optional import require
from ...errors import ReadError, UsageError
from ..layout import OutputLayout, as_layout
from .published import local_files, read_published

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # variables of this program are no tables
}
ROWS_AT_ONCE = 1000


@dataclass(frozen=True)
class Answer:
    """What a question gives.

    Attributes
    ----------
    columns : list of str
    rows : iterator of tuple
        Taken as they are needed.
    """

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


def ask(output: OutputLayout | Path, sql: str) -> Answer:
    """Ask the catalogue of an output.

    Parameters
    ----------
    output : OutputLayout or Path
        The output, or its folder. Of a bucket, the files are copied to this machine as long as rows are
        taken.
    sql : str
        One statement that only reads, over the tables of `shadowzarr.catalog.tables.columns`.

    Raises
    ------
    UsageError
        When there is no catalogue, or the question cannot be understood or is none.
    ReadError
        When the catalogue cannot be read.
    MissingDependencyError
        When DuckDB is not installed.
    """
    duckdb = require("duckdb", extra="pipeline")
    layout = as_layout(output)
    published = read_published(layout)
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(local_files(layout, published))
        try:
            connection = stack.enter_context(_opened(duckdb, files))
        except duckdb.Error as error:
            reason = _reason(error)
            raise ReadError(f"the catalogue of {layout.title} cannot be read: {reason}") from error
        try:
            connection.execute(_only_statement(duckdb, connection.extract_statements(sql)))
            names = [column[0] for column in connection.description]
        except (duckdb.Error, UsageError) as error:
            raise UsageError(f"the question cannot be answered: {_reason(error)}") from error
        return Answer(names, _rows(duckdb, connection, stack.pop_all()))


def _only_statement(duckdb: Any, statements: list[Any]) -> Any:
    reading = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    if len(statements) != 1 or statements[0].type not in reading:
        raise UsageError("expected one statement that reads, such as SELECT, WITH, FROM, DESCRIBE or SHOW")
    return statements[0]


def _opened(duckdb: Any, tables: Mapping[str, Path]) -> Any:
    """A data base in memory that may look at these files, and at nothing else."""
    connection = duckdb.connect(config=SETTINGS)
    files = [str(file.resolve()) for file in tables.values()]
    for name, file in zip(tables, files, strict=True):
        quoted = file.replace("'", "''")
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{quoted}')")  # noqa: S608
    connection.execute("SET allowed_paths = $paths", {"paths": files})
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _rows(duckdb: Any, connection: Any, open_things: contextlib.ExitStack) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := connection.fetchmany(ROWS_AT_ONCE):
            yield from rows
    except duckdb.Error as error:
        raise UsageError(f"the question cannot be answered: {_reason(error)}") from error
    finally:
        open_things.close()


def _reason(error: Exception) -> str:
    """What an error says, on one line, up to where it shows the statement."""
    said = str(error).strip().partition("\n\n")[0]
    return " ".join(said.split()) or type(error).__name__
