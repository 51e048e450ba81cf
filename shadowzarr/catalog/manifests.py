"""A manifest as a collection: a file that lists files, by URL or path, and what is known of them.

One entry a line, in a table with or without names of columns, or as JSON; see ``docs/pipeline.md``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson

from ..access.locations import canonical, is_remote, secret_in, without_query
from ..access.range_reader import default_reader
from ..access.source_identity import quoted
from ..errors import ShadowzarrError, UsageError
from ..recording_files import recording_at
from ..store.places import folder_of, resolve
from .assets import CatalogAsset
from .file_assets import FoundFile, file_assets
from .request import ManifestRequest

COLUMNS = ("url", "path", "name", "size", "etag")
"""Columns that a table may have; ``url`` and ``path`` are two words for one."""


@dataclass(frozen=True)
class ManifestEntry:
    """One line of a manifest.

    Attributes
    ----------
    line : int
        Its number, from 1; of JSON the number of the entry.
    url : str
        A URL, or a path relative to the manifest's folder.
    name, size, etag : str
        As they stand there; empty when they do not.
    """

    line: int
    url: str
    name: str = ""
    size: str = ""
    etag: str = ""


def check_manifest(request: ManifestRequest) -> None:
    """Refuse a manifest that cannot be read or understood; errors as for `list_manifest`."""
    for _ in _entries(canonical(request.file)):
        pass


def list_manifest(request: ManifestRequest) -> list[CatalogAsset]:
    """List the files that a manifest names as assets.

    Raises
    ------
    UsageError
        When it cannot be understood; the message names the line.
    ReadError
        When it cannot be read.
    """
    return file_assets(request.name, read_manifest(request.file), identity=request.identity)


def read_manifest(file: str) -> list[FoundFile]:
    """Read the files that a manifest names.

    Parameters
    ----------
    file : str
        A local path or a URL. A name that ends in ``.json`` holds JSON, in ``.csv`` commas between columns;
        any other tabs.

    Raises
    ------
    UsageError
        When an entry is wrong, or two have one name.
    ReadError
        When it cannot be read.
    """
    location = canonical(file)
    shown, folder = without_query(location), folder_of(location)
    lines: dict[str, int] = {}
    found = []
    for entry in _entries(location):
        try:
            each = _found(entry, folder)
        except ShadowzarrError as error:
            raise UsageError(f"{shown}:{entry.line}: {error}") from error
        if lines.setdefault(each.name, entry.line) != entry.line:
            raise UsageError(
                f"{shown}:{entry.line}: the name {each.name!r} is that of line {lines[each.name]} too; "
                "give the two names of their own in a column name"
            )
        found.append(each)
    return found


def _entries(location: str) -> Iterator[ManifestEntry]:
    shown = without_query(location)
    try:
        text = bytes(default_reader().read_whole(location)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown}: not UTF-8 at byte {error.start}; expected a list of files") from None
    return parse_manifest(text, shown)


def parse_manifest(text: str, file: str) -> Iterator[ManifestEntry]:
    """Take a manifest apart.

    Parameters
    ----------
    text : str
        The manifest.
    file : str
        Its name, whose end says what it holds, and which messages begin with.

    Raises
    ------
    UsageError
        When it is no manifest.
    """
    suffix = os.path.splitext(file)[1].lower()  # noqa: PTH122 - it may be a URL
    return _parse_json(text, file) if suffix == ".json" else _parse_table(text, file, is_csv=suffix == ".csv")


def _parse_table(text: str, file: str, *, is_csv: bool) -> Iterator[ManifestEntry]:
    columns: list[str] | None = None
    reader = csv.reader(text.splitlines(), delimiter="," if is_csv else "\t")
    for number, row in enumerate(reader, start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if columns is None:
            columns = _columns(cells, f"{file}:{number}")
            if columns:
                continue
        if len(cells) > max(1, len(columns)):
            expected = f"{len(columns)}, as in the first line" if columns else "one"
            hint = "" if columns else "; name the columns in the first line, such as url, name, size and etag"
            raise UsageError(f"{file}:{number}: found {len(cells)} columns, expected {expected}{hint}")
        yield _entry(dict(zip(columns or ["url"], cells, strict=False)), number, f"{file}:{number}")


def _columns(cells: list[str], where: str) -> list[str]:
    """Names of columns in the first line; none when it is an entry itself."""
    names = [cell.lower() for cell in cells]
    if names[0] not in COLUMNS:
        return []
    unknown = [name for name in names if name not in COLUMNS]
    if unknown or len(set(names)) != len(names):
        raise UsageError(f"{where}: found the columns {', '.join(names)}, expected {', '.join(COLUMNS)}")
    return names


def _parse_json(text: str, file: str) -> Iterator[ManifestEntry]:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{file} is not JSON: {error}") from None
    if not isinstance(document, list):
        raise UsageError(f"{file} holds no list; expected a list of URLs, or of objects with url or path")
    for number, item in enumerate(document, start=1):
        where = f"{file}, entry {number}"
        values = {"url": item} if isinstance(item, str) else item
        if not isinstance(values, Mapping) or not set(values) <= set(COLUMNS):
            raise UsageError(f"{where}: found {item!r}, expected a URL, or an object of {', '.join(COLUMNS)}")
        yield _entry({name: str(value) for name, value in values.items() if value is not None}, number, where)


def _entry(values: Mapping[str, str], line: int, where: str) -> ManifestEntry:
    plain: dict[str, Any] = {key: value for key, value in values.items() if key != "path" and value}
    places = [values[key] for key in ("url", "path") if values.get(key)]
    if len(places) != 1:
        raise UsageError(f"{where}: found {len(places)} places of a file, expected a url or a path")
    if not plain.get("size", "0").isdecimal():
        raise UsageError(f"{where}: the size is {plain['size']!r}, expected a number of bytes")
    plain["url"] = places[0]
    names = {field.name for field in fields(ManifestEntry)}
    return ManifestEntry(line=line, **{key: value for key, value in plain.items() if key in names})


def _found(entry: ManifestEntry, folder: str) -> FoundFile:
    place = canonical(resolve(entry.url, folder))
    secret = secret_in(place)
    if secret is not None:
        raise UsageError(
            f"{without_query(place)} comes with {secret}, which must not be written down; "
            "give the URL without"
        )
    size = int(entry.size) if entry.size else None
    found = FoundFile(entry.name or _default_name(place, folder), place, place, size, quoted(entry.etag))
    recording = None if is_remote(place) or not Path(place).exists() else recording_at(Path(place))
    if recording is None:
        return found
    return replace(found, kind="recording", parts=tuple(map(str, recording.parts)))


def _default_name(place: str, folder: str) -> str:
    """The last part of a URL; the path of a local file below the manifest's folder, or its last part."""
    if is_remote(place):
        return unquote(urlsplit(place).path.rstrip("/").rpartition("/")[2])
    if not is_remote(folder) and place.startswith(folder.rstrip("/") + "/"):
        return place.removeprefix(folder.rstrip("/") + "/")
    return os.path.basename(place)  # noqa: PTH119 - a location is a string
