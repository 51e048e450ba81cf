"""Reading LINDI's files: JSON, the tar archive with an index, and the directory of the same content.

A ``.lindi.tar`` begins with the entry ``.tar_entry.json``, whose 1,024 bytes at 512 say where
``.tar_index.json`` is; that lists every file with its offset and size. ``lindi.json`` is the document, and
``./name`` in a reference is a file of the archive or directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..access.locations import canonical, is_remote, without_query
from ..access.range_reader import default_reader
from ..errors import InvalidReferencesError
from ..refs.byte_range import FileRange
from ..refs.document import Reference
from ..refs.kerchunk_form import listed_references
from ..refs.node_checks import is_count
from ..store.places import folder_of, inside, resolve
from ..store.read_json import parse_json, read_json

DOCUMENT = "lindi.json"
_ENTRY = FileRange(512, 1024)
_TAR = ".tar"


@dataclass(frozen=True, slots=True)
class LindiDocument:
    """A document that stands by itself.

    Attributes
    ----------
    refs : dict
        References by key, in absolute places.
    name : str
        What messages call it.
    resolve : callable
        Makes a place that the document names absolute.
    location : str
        Where it was read; empty for one in memory.
    """

    refs: dict[str, Reference]
    name: str
    resolve: Callable[[str], str]
    location: str = ""


def read_document(source: str | os.PathLike[str] | Mapping[str, Any]) -> LindiDocument:
    """Read a ``.lindi.json``, ``.lindi.tar`` or ``.lindi.d``, by path or URL; or take a document in memory.

    Raises
    ------
    InvalidReferencesError
        When it is none of them.
    ReadError
        When it cannot be read.
    """
    if isinstance(source, Mapping):
        return LindiDocument(listed_references(source, "the document"), "the document", lambda place: place)
    location = canonical(source)
    name = without_query(location)
    if name.endswith(_TAR):
        return _from_tar(location, name)
    if not is_remote(location) and Path(location).is_dir():
        document, folder = read_json(inside(location, DOCUMENT)), location
    else:
        document, folder = read_json(location), folder_of(location)
    refs = listed_references(document, name)
    return _absolute(LindiDocument(refs, name, lambda place: resolve(place, folder), location))


def _absolute(document: LindiDocument) -> LindiDocument:
    places = {value[0] for value in document.refs.values() if not isinstance(value, str)}
    absolute = {place: document.resolve(place) for place in places}
    for value in document.refs.values():
        if not isinstance(value, str):
            value[0] = absolute[value[0]]
    return document


def _from_tar(location: str, name: str) -> LindiDocument:
    files = _tar_index(location, name)
    if DOCUMENT not in files:
        raise InvalidReferencesError(f"{name} is a tar archive without {DOCUMENT}; expected a .lindi.tar")
    data = bytes(default_reader().read_one(location, files[DOCUMENT]))
    refs = listed_references(parse_json(data, f"{name}: {DOCUMENT}"), name)
    for key, value in refs.items():
        if not isinstance(value, str) and value[0].startswith("./"):
            refs[key] = _in_tar(value, files, location, f"{name}: refs[{key!r}]")
    folder = folder_of(location)
    return _absolute(LindiDocument(refs, name, lambda place: resolve(place, folder), location))


def _in_tar(value: list[Any], files: Mapping[str, FileRange], location: str, place: str) -> Reference:
    """A range of a file in the archive as a range of the archive."""
    held = files.get(value[0][2:])
    offset, length = (value[1], value[2]) if len(value) == 3 else (0, held.length if held else 0)
    if held is None or offset + length > held.length:
        raise InvalidReferencesError(f"{place} names {value}, which is not in the archive")
    return [location, held.offset + offset, length]


def _tar_index(location: str, name: str) -> dict[str, FileRange]:
    reader = default_reader()
    try:
        index = parse_json(bytes(reader.read_one(location, _ENTRY)), name)["index"]
        listed = parse_json(bytes(reader.read_one(location, FileRange(index["d"], index["s"]))), name)[
            "files"
        ]
        files = {entry["n"]: (entry["d"], entry["s"]) for entry in listed}
    except (KeyError, TypeError, InvalidReferencesError) as error:
        raise InvalidReferencesError(
            f"{name} has no index of a .lindi.tar at its beginning: {error}"
        ) from error
    if not all(is_count(number) for place in files.values() for number in place):
        raise InvalidReferencesError(f"{name}: its index has offsets or sizes that are no numbers")
    return {file: FileRange(offset, size) for file, (offset, size) in files.items()}
