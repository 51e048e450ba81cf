"""load_rfs: a path, URL or dictionary → a reference file system that is checked and stands by itself.

Reads the document and nothing else: index arrays stay where they are until a chunk is asked for. What
the document names relative to its own folder becomes absolute, and templates are put in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import orjson

from ..access.locations import canonical, is_remote, without_query
from ..access.range_reader import default_reader
from ..errors import InvalidReferencesError, ReadError, SourceNotFoundError
from ..refs.document import Rfs
from ..refs.templates import expand
from .check_document import check_document
from .places import folder_of, inside, resolve

if TYPE_CHECKING:
    from .fetch_chunk import FileReader

DOCUMENT_NAME = "refs.json"


def load_rfs(source: str | os.PathLike[str] | Mapping[str, Any], *, reader: FileReader | None = None) -> Rfs:
    """Load a reference file system.

    Parameters
    ----------
    source : str, path or mapping
        A ``.json`` file, a directory that holds ``refs.json``, or the URL of either (http, https or
        s3); or a document in memory, which is checked and not changed.
    reader : optional
        What reads the file; the process's own by default.

    Returns
    -------
    Rfs
        Locations are absolute, templates are put in, and index arrays are named, not read.

    Raises
    ------
    InvalidReferencesError
        When it is not a reference file system, or one that this version does not know; the message
        names the place.
    ReadError
        When it cannot be read.
    """
    if isinstance(source, Mapping):
        check_document(source, "the document")
        return _standalone(cast("Rfs", source), lambda place: place)
    document = _document_location(canonical(source))
    shown = without_query(document)
    rfs = parse_document(_read(document, reader or default_reader()), shown)
    folder = _folder(canonical(source), document)
    return _standalone(rfs, lambda place: resolve(place, folder))


def parse_document(data: bytes | memoryview, name: str) -> Rfs:
    """Parse and check a document.

    Parameters
    ----------
    data : bytes
        JSON; bare NaN and infinities, which older writers wrote, are understood.
    name : str
        What messages call it.

    Raises
    ------
    InvalidReferencesError
        When it is not a reference file system that can be read here.
    """
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as strict:
        try:
            document = json.loads(bytes(data))
        except ValueError:
            raise InvalidReferencesError(f"{name} is not JSON: {strict}") from strict
    check_document(document, name)
    return cast("Rfs", document)


def _document_location(location: str) -> str:
    path = urlsplit(location).path if is_remote(location) else location
    is_document = path.endswith(".json") or (not is_remote(location) and Path(location).is_file())
    if is_document and not (not is_remote(location) and Path(location).is_dir()):
        return location
    return inside(location, DOCUMENT_NAME)


def _folder(location: str, document: str) -> str:
    """Where the document's relative names start; a directory that was named keeps its URL's query."""
    return folder_of(document) if location == document else location


def _read(document: str, reader: FileReader) -> bytes | memoryview:
    try:
        return reader.read_whole(document)
    except SourceNotFoundError as error:
        raise SourceNotFoundError(
            f"no references at {without_query(document)}; expected a .json file, or a directory that "
            f"holds {DOCUMENT_NAME}",
            status=error.status,
        ) from error
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{without_query(document)} cannot be read: {error}") from error


def _standalone(rfs: Rfs, place: Callable[[str], str]) -> Rfs:
    """The document with every location expanded and absolute."""
    locations = _Locations(rfs.get("templates") or {}, place)
    result = cast("Rfs", dict(rfs))
    result.pop("templates", None)
    result["refs"] = {key: _reference(value, locations) for key, value in rfs["refs"].items()}
    if "gen" in rfs:
        result["gen"] = [{**entry, "url": locations[entry["url"]]} for entry in rfs["gen"]]
    if "indexes" in rfs:
        result["indexes"] = {
            path: cast("Any", _index(entry, locations, place)) for path, entry in rfs["indexes"].items()
        }
    if "sources" in rfs:
        result["sources"] = {locations[url]: entry for url, entry in rfs["sources"].items()}
    return result


class _Locations(dict[str, str]):
    """Location by its text in the document, worked out once for each: many references share few texts."""

    def __init__(self, templates: Mapping[str, str], place: Callable[[str], str]) -> None:
        super().__init__()
        self._templates = templates
        self._place = place

    def __missing__(self, text: str) -> str:
        expanded = expand(text, self._templates) if self._templates else text
        location = self[text] = self._place(expanded)
        return location


def _reference(value: Any, locations: _Locations) -> Any:
    if isinstance(value, list):
        return [locations[value[0]], *value[1:]]
    return value if isinstance(value, str) else json.dumps(value)  # kerchunk also writes JSON objects


def _index(entry: Mapping[str, Any], locations: _Locations, place: Callable[[str], str]) -> dict[str, Any]:
    index = entry["index"]
    return {
        **entry,
        "url": locations[entry["url"]],
        "index": place(index) if isinstance(index, str) else index,
    }
