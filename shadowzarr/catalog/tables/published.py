"""The catalogue as readers get it: Parquet files, all of one state, and a small file that names them.

::

    OUTPUT/catalog/catalog.json           which folder holds the newest state
    OUTPUT/catalog/<digest>/assets.parquet, objects.parquet, left_out.parquet

The files of a state are never changed. ``catalog.json`` is replaced by one rename or put; the state before
stays for those who are still reading it, older ones go.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import orjson

from ..._optional import require
from ...errors import InvalidReferencesError, OutputError, UsageError
from ..layout import OutputLayout
from ..output_store import OutputStore, output_error
from .columns import TABLES, TABLES_VERSION, Row

FOLDER = "catalog"
MANIFEST = "catalog.json"
DIGEST_DIGITS = 16
_MANIFEST = f"{FOLDER}/{MANIFEST}"
FILES = {name: f"{name}.parquet" for name in TABLES}
"""The file of each table."""

LARGEST_ROW = 256 * 2**20
"""Bytes of one row as JSON; a description can be long."""


@dataclass(frozen=True)
class Published:
    """A state of the catalogue.

    Attributes
    ----------
    folder : PurePath
        Where its files are.
    counts : dict of str to int
        Rows of each table.
    is_private : bool
        Whether it is about embargoed assets.
    """

    folder: PurePath
    counts: dict[str, int]
    is_private: bool = False


def publish(
    layout: OutputLayout, tables: Iterable[tuple[str, Iterable[Row]]], *, is_private: bool
) -> Published:
    """Publish a state; nothing is written when it is the one that is published already.

    Parameters
    ----------
    layout : OutputLayout
        The output, which must be held.
    tables : iterable
        Names of tables and their rows.
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
    staged, store = layout.staging / "catalog", layout.store
    try:
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        digest = hashlib.sha256(f"{TABLES_VERSION} {is_private}".encode())
        counts = {name: _write_lines(staged / f"{name}.jsonl", rows, digest) for name, rows in tables}
        folder = f"{FOLDER}/{digest.hexdigest()[:DIGEST_DIGITS]}"
        if not set(store.children(folder)) >= {f"{folder}/{name}" for name in FILES.values()}:
            _write_parquet(duckdb, staged)
            store.remove([folder])
            store.adopt(staged, folder)
        _name(layout, folder, counts, is_private=is_private)
    except OSError as error:
        raise output_error(f"cannot write the catalogue in {store.location(FOLDER)}", error) from error
    except duckdb.Error as error:
        raise OutputError(f"cannot write the catalogue in {store.location(FOLDER)}: {error}") from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return Published(layout.folder / folder, counts, is_private)


def read_published(layout: OutputLayout) -> Published:
    """Find the newest state of an output.

    Raises
    ------
    UsageError
        When there is no such output, or it has no catalogue.
    InvalidReferencesError
        When what names it cannot be understood.
    """
    store, output = layout.store, layout.title
    try:
        content = orjson.loads(store.read(_MANIFEST))
        folder, counts = layout.folder / FOLDER / _name_of(content["folder"]), content["rows"]
    except FileNotFoundError:
        if not store.is_there():
            raise UsageError(f"the output {output} does not exist; check the name") from None
        raise UsageError(
            f"the output {output} has no catalogue yet; python -m flows catalog rebuild {output} makes one"
        ) from None
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidReferencesError(
            f"{store.location(_MANIFEST)} cannot be understood ({error}); make the catalogue anew by "
            "catalog rebuild"
        ) from error
    if content.get("version") != TABLES_VERSION:
        raise InvalidReferencesError(
            f"the catalogue of {output} is of version {content.get('version')}, expected {TABLES_VERSION}; "
            "make it anew by catalog rebuild"
        )
    return Published(folder, counts, content.get("private") is True)


@contextlib.contextmanager
def local_files(layout: OutputLayout, published: Published) -> Iterator[dict[str, Path]]:
    """The file of each table of a state, on this machine."""
    with layout.store.local_copy(layout.relative(published.folder)) as folder:
        yield {name: folder / file for name, file in FILES.items()}


def _name_of(folder: Any) -> str:
    if not isinstance(folder, str) or not folder.isalnum():
        raise ValueError(f"folder {folder!r}")
    return folder


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


def _name(layout: OutputLayout, folder: str, counts: dict[str, int], *, is_private: bool) -> None:
    store, digest = layout.store, folder.rpartition("/")[2]
    content = {
        "version": TABLES_VERSION,
        "folder": digest,
        "private": is_private,
        "tables": {name: f"{digest}/{file}" for name, file in FILES.items()},
        "rows": counts,
    }
    document = orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    before = _manifest_of(store)
    if document == before:
        return
    store.write(_MANIFEST, document, scratch=layout.staging)
    kept = {_MANIFEST, folder, f"{FOLDER}/{_earlier(before)}"}
    store.remove(name for name in store.children(FOLDER) if name not in kept)


def _manifest_of(store: OutputStore) -> bytes:
    try:
        return store.read(_MANIFEST)
    except FileNotFoundError:
        return b""


def _earlier(manifest: bytes) -> str:
    """The folder that a manifest named, when it can be read."""
    try:
        return str(orjson.loads(manifest)["folder"])
    except (ValueError, KeyError, TypeError):
        return ""
