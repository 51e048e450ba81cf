"""load_rfs: a path, URL or dictionary → a reference file system that is checked and stands by itself.

Reads the document and nothing else: index arrays stay where they are until a chunk is asked for. What
the document names relative to its own folder becomes absolute, and templates are put in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import orjson

from ..access.allowed_places import LocalRoots, PlaceRules, real_roots
from ..access.archives import asset_address
from ..access.locations import canonical, is_remote, without_query
from ..access.range_reader import restricted
from ..errors import InvalidReferencesError, ReadError, ShadowzarrError, SourceNotFoundError
from ..refs.document import IndexEntry, Rfs
from ..refs.templates import expand, expand_plain
from .check_document import check_document, check_location
from .other_files import kind_of_binary, refuse_source
from .places import check_inside, folder_of, inside, resolve

if TYPE_CHECKING:
    from .fetch_chunk import FileReader

DOCUMENT_NAME = "refs.json"

_OPTIONAL: Final = (
    *("requires", "templates", "gen", "indexes", "selections"),
    *("sources", "inline_files", "skipped", "converted", "hdf5"),
)
"""Parts that a document may lack; null means the same."""


def load_rfs(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    reader: FileReader | None = None,
    read_indexes: bool = False,
    allow_local_files: bool = False,
    local_roots: LocalRoots | None = None,
    allow_private: bool = True,
) -> Rfs:
    """Load a reference file system.

    Parameters
    ----------
    source : str, path or mapping
        A ``.json`` file, a directory that holds ``refs.json``, or the URL of either (http, https or
        s3); or a document in memory, which is checked and not changed.
    reader : optional
        What reads the file; the process's own by default.
    read_indexes : bool, optional
        Whether index arrays are read and held, as `VirtualArray.from_rfs` needs them.
    allow_local_files : bool, optional
        Whether a document that came over the network may name files of this machine.
    local_roots : iterable of path, optional
        Folders below which the files of this machine that a document names must lie, symbolic links
        followed; anywhere by default.
    allow_private : bool, optional
        Whether the document, and index arrays that are read, may come from hosts with internal addresses.

    Returns
    -------
    Rfs
        Locations are absolute, templates are put in, and index arrays are named, not read, unless it is
        asked for.

    Raises
    ------
    InvalidReferencesError
        When it is not a reference file system, or one that this version does not know; the message
        names the place. An HDF5 or TIFF file is named as such.
    RefusedPlaceError
        When it names a file of this machine that it may not, or an index array outside of its folder.
    ReadError
        When it cannot be read.
    """
    roots = real_roots(local_roots)
    files = restricted(reader, allow_private=allow_private, local_roots=None)
    if isinstance(source, Mapping):
        check_document(source, "the document")
        rfs = _in_memory(source)
        if roots is not None:
            _check_places(rfs, PlaceRules(None, allow_local_files, roots))
        return _with_indexes(rfs, files) if read_indexes else rfs
    location = canonical(source)
    document = document_location(location)
    # A directory that was named keeps its URL's query: who gave it gave it for all that is in there.
    folder = folder_of(document) if location == document else location
    rfs = parse_document(_read(document, location, files), without_query(document))
    rules = PlaceRules(document, allow_local_files, roots)
    rfs = _standalone(
        rfs,
        lambda place: rules.check(resolve(place, folder)),
        lambda place: check_inside(resolve(place, folder), folder),
    )
    return _with_indexes(rfs, files) if read_indexes else rfs


def _check_places(rfs: Rfs, rules: PlaceRules) -> None:
    """Look at each place that a document in memory names, index arrays included, for it has no folder."""
    places = dict.fromkeys(value[0] for value in rfs["refs"].values() if type(value) is list)
    places |= dict.fromkeys(entry["url"] for entry in rfs.get("gen") or ())
    for entry in (rfs.get("indexes") or {}).values():
        places |= dict.fromkeys(each for each in (entry["url"], entry["index"]) if isinstance(each, str))
    for place in (*places, *(rfs.get("sources") or ())):
        rules.check(place)


def _with_indexes(rfs: Rfs, reader: FileReader | None) -> Rfs:
    """References with their index arrays in memory."""
    entries = rfs.get("indexes")
    if not entries:
        return rfs
    from ..access.index_arrays import read_index  # needs numcodecs, which most who load references do not

    read = {path: {**entry, "index": read_index(entry, reader=reader)} for path, entry in entries.items()}
    return cast("Rfs", {**rfs, "indexes": read})


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
        except RecursionError:
            raise InvalidReferencesError(f"{name} is nested too deeply to be read") from None
        except ValueError:
            raise _not_json(bytes(data), name, str(strict)) from None
    check_document(document, name)
    return cast("Rfs", document)


def _not_json(data: bytes, name: str, reason: str) -> InvalidReferencesError:
    kind = kind_of_binary(data)
    if kind is None:
        return InvalidReferencesError(
            f"{name} is not JSON ({reason}), so that it is no references; expected a .json file that "
            f"generate wrote, or a directory that holds {DOCUMENT_NAME}"
        )
    return InvalidReferencesError(
        f"{name} is {kind}, not references; expected a .json file, or a directory that holds {DOCUMENT_NAME}"
    )


def document_location(location: str) -> str:
    """Location of the JSON document of references, which may be named by their directory."""
    if is_remote(location):
        # The download URL of an archive's asset has no suffix, and is never a directory.
        is_document = urlsplit(location).path.endswith(".json") or asset_address(location) is not None
    else:
        is_document = Path(location).is_file() or (location.endswith(".json") and not Path(location).is_dir())
    return location if is_document else inside(location, DOCUMENT_NAME)


def folder_of_document(source: str | os.PathLike[str]) -> str:
    """The folder of a document that is named by its path or URL, or by that of its folder."""
    location = canonical(source)
    document = document_location(location)
    return folder_of(document) if location == document else location


def _read(document: str, given: str, reader: FileReader) -> bytes | memoryview:
    """The document; ``given`` is what was named, which is its directory or itself."""
    # A remote file that is called .json costs no request for this; a local one costs next to nothing.
    if not is_remote(document) or asset_address(document) is not None:
        refuse_source(document, reader)
    try:
        return reader.read_whole(document)
    except SourceNotFoundError as error:
        if is_remote(given) and given != document:
            refuse_source(given, reader)
        raise SourceNotFoundError(
            f"no references at {without_query(document)}; expected a .json file, or a directory that "
            f"holds {DOCUMENT_NAME}",
            status=error.status,
        ) from None
    except OSError as error:
        if isinstance(error, ShadowzarrError):
            raise
        raise ReadError(f"{without_query(document)} cannot be read: {error}") from error


def _standalone(rfs: Rfs, place: Callable[[str], str], place_index: Callable[[str], str]) -> Rfs:
    """Make every location in a document expanded and absolute; the document is changed."""
    for part in [part for part in _OPTIONAL if rfs.get(part, ()) is None]:
        del rfs[part]  # type: ignore[misc]
    locations = _Locations(rfs.pop("templates", {}), place)
    refs: dict[str, Any] = rfs["refs"]
    for key, value in refs.items():
        if type(value) is list:
            value[0] = locations[value[0]]
        elif type(value) is dict:  # kerchunk also writes metadata as JSON objects
            refs[key] = json.dumps(value)
    if rfs.get("gen"):
        rfs["gen"] = [{**entry, "url": locations[entry["url"]]} for entry in rfs["gen"]]
    if rfs.get("indexes"):
        rfs["indexes"] = {
            path: _index(entry, locations, place_index) for path, entry in rfs["indexes"].items()
        }
    if rfs.get("sources"):
        rfs["sources"] = {locations.plain(url): entry for url, entry in rfs["sources"].items()}
    return rfs


def _in_memory(document: Mapping[str, Any]) -> Rfs:
    """A document in memory, standing by itself; copied only where something has to change."""
    refs: Mapping[str, Any] = document["refs"]
    has_null = any(document.get(part, ()) is None for part in _OPTIONAL)
    if not (has_null or document.get("templates") or any(type(value) is dict for value in refs.values())):
        return cast("Rfs", dict(document))
    own = {key: list(value) if type(value) is list else value for key, value in refs.items()}
    return _standalone(cast("Rfs", {**document, "refs": own}), lambda place: place, lambda place: place)


class _Locations(dict[str, str]):
    """Location by its text in the document, worked out once for each: many references share few texts."""

    def __init__(self, templates: Mapping[str, str], place: Callable[[str], str]) -> None:
        super().__init__()
        self._templates = templates
        self.place = place

    def __missing__(self, text: str) -> str:
        expanded = expand(text, self._templates) if self._templates else text
        check_location(expanded, "the references")
        location = self[text] = self.place(expanded)
        return location

    def plain(self, text: str) -> str:
        """A location that is written out where references have templates; braces may be part of it."""
        return self.place(expand_plain(text, self._templates))


def _index(entry: IndexEntry, locations: _Locations, place_index: Callable[[str], str]) -> IndexEntry:
    result: IndexEntry = {**entry, "url": locations.plain(entry["url"])}
    if isinstance(entry["index"], str):
        result["index"] = place_index(entry["index"])
    return result
