"""The catalogue as readers get it: Parquet files, all of one state, and a small file that names them.

::

    OUTPUT/catalog/catalog.json           which folder holds the newest state
    OUTPUT/catalog/<digest>/assets.parquet, objects.parquet, left_out.parquet

The files of a state are never changed. ``catalog.json`` is replaced by one rename; the state before stays
for those who are still reading it, older ones go.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ..._optional import require
from ...errors import InvalidReferencesError, OutputError, UsageError
from ..atomic_files import write_whole
from .columns import TABLES, TABLES_VERSION, Row

FOLDER = "catalog"
MANIFEST = "catalog.json"
DIGEST_DIGITS = 16
LARGEST_ROW = 256 * 2**20
"""Bytes of one row as JSON; a description can be long."""


@dataclass(frozen=True)
class Published:
    """A state of the catalogue.

    Attributes
    ----------
    folder : Path
        Where its files are.
    files : dict of str to Path
        The file of each table.
    counts : dict of str to int
        Rows of each table.
    """

    folder: Path
    files: dict[str, Path]
    counts: dict[str, int]


def publish(
    output: Path, tables: Iterable[tuple[str, Iterable[Row]]], *, scratch: Path, is_private: bool
) -> Published:
    """Publish a state; nothing is written when it is the one that is published already.

    Parameters
    ----------
    output : Path
        The output folder.
    tables : iterable
        Names of tables and their rows.
    scratch : Path
        A folder on the same file system whose left-overs somebody clears.
    is_private : bool
        Whether it is about embargoed assets.

    Raises
    ------
    OutputError
        When it cannot be written.
    MissingDependencyError
        When DuckDB is not installed.
    """
    duckdb = require("duckdb", extra="pipeline")
    staged = scratch / "catalog"
    try:
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        digest = hashlib.sha256(f"{TABLES_VERSION} {is_private}".encode())
        counts = {name: _write_lines(staged / f"{name}.jsonl", rows, digest) for name, rows in tables}
        folder = output / FOLDER / digest.hexdigest()[:DIGEST_DIGITS]
        if not all(file.is_file() for file in _files(folder).values()):
            _write_parquet(duckdb, staged)
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            staged.rename(folder)
        _name(output, folder, counts, scratch=scratch, is_private=is_private)
    except (OSError, duckdb.Error) as error:
        raise OutputError(f"cannot write the catalogue in {output / FOLDER}: {error}") from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return Published(folder, _files(folder), counts)


def read_published(output: Path) -> Published:
    """Find the newest state of an output.

    Raises
    ------
    UsageError
        When the output has no catalogue.
    InvalidReferencesError
        When what names it cannot be understood.
    """
    manifest = output / FOLDER / MANIFEST
    try:
        content = orjson.loads(manifest.read_bytes())
        folder, counts = output / FOLDER / _name_of(content["folder"]), content["rows"]
    except FileNotFoundError:
        what = "has no catalogue yet" if output.is_dir() else "does not exist"
        raise UsageError(
            f"the output {output} {what}; python -m flows catalog rebuild {output} makes one"
        ) from None
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidReferencesError(
            f"{manifest} cannot be understood ({error}); make the catalogue anew by catalog rebuild"
        ) from error
    if content.get("version") != TABLES_VERSION:
        raise InvalidReferencesError(
            f"the catalogue of {output} is of version {content.get('version')}, expected {TABLES_VERSION}; "
            "make it anew by catalog rebuild"
        )
    return Published(folder, _files(folder), counts)


def _name_of(folder: Any) -> str:
    if not isinstance(folder, str) or not folder.isalnum():
        raise ValueError(f"folder {folder!r}")
    return folder


def _files(folder: Path) -> dict[str, Path]:
    return {name: folder / f"{name}.parquet" for name in TABLES}


def _write_lines(path: Path, rows: Iterable[Row], digest: Any) -> int:
    """Write rows as JSON, one a line, into the file and into the digest; gives their number."""
    with path.open("wb") as file:
        count = 0
        for line in _lines(rows):
            file.write(line)
            digest.update(line)
            count += 1
        _end_table(file, digest)
    return count


def _lines(rows: Iterable[Row]) -> Iterator[bytes]:
    for row in rows:
        yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _end_table(file: BinaryIO, digest: Any) -> None:
    file.flush()
    digest.update(b"\0")


def _write_parquet(duckdb: Any, folder: Path) -> None:
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        for name, columns in TABLES.items():
            lines, target = folder / f"{name}.jsonl", folder / f"{name}.parquet"
            kinds = {column.name: column.kind for column in columns}
            source = connection.read_json(
                str(lines), columns=kinds, format="newline_delimited", maximum_object_size=LARGEST_ROW
            )
            source.write_parquet(str(target), compression="zstd")
            lines.unlink()


def _name(output: Path, folder: Path, counts: dict[str, int], *, scratch: Path, is_private: bool) -> None:
    manifest = output / FOLDER / MANIFEST
    content = {
        "version": TABLES_VERSION,
        "folder": folder.name,
        "private": is_private,
        "tables": {name: f"{folder.name}/{name}.parquet" for name in TABLES},
        "rows": counts,
    }
    document = orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    before = manifest.read_bytes() if manifest.is_file() else b""
    if document == before:
        return
    write_whole(manifest, document, scratch=scratch)
    kept = {folder.name, _earlier(before)}
    for each in manifest.parent.iterdir():
        if each.is_dir() and each.name not in kept:
            shutil.rmtree(each)


def _earlier(manifest: bytes) -> str:
    """The folder that a manifest named, when it can be read."""
    try:
        return str(orjson.loads(manifest)["folder"])
    except (ValueError, KeyError, TypeError):
        return ""
