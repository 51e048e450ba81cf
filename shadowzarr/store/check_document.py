"""Is this a reference file system that can be read here? Checks that name the place. Pure.

Called for every document that is loaded, so it looks at each reference once and at little of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import numpy as np

from ..errors import InvalidReferencesError
from ..refs import gen
from ..refs.chunk_index import check_index_metadata
from ..refs.chunk_key import metadata_key
from ..refs.document import FORMAT_VERSION, KNOWN_REQUIREMENTS, GenEntry
from ..refs.node_checks import LARGEST, MOST_SHOWN, is_count
from ..refs.selection import Selection

_GEN_KEYS = {"key": str, "url": str, "dimensions": Mapping}
_LISTS = {"skipped": ("path", "kind", "reason"), "converted": ("path", "what")}
"""Lists for people, and the texts that each of their entries has."""


def check_document(document: Any, name: str) -> None:
    """Refuse what is not a reference file system, or one of a newer format.

    Parameters
    ----------
    document
        Parsed JSON, or a document in memory.
    name : str
        What messages call it.

    Raises
    ------
    InvalidReferencesError
        With the place in the document and what was expected there.
    """
    if not isinstance(document, Mapping):
        raise _wrong(name, f"is {_kind(document)}", "an object with version and refs")
    _check_versions(document, name)
    refs = _part(document, "refs", Mapping, name)
    for key in _unusual(refs):
        _check_reference(key, refs[key], name)
    templates = _part(document, "templates", Mapping, name)
    if not all(isinstance(value, str) for value in templates.values()):
        raise _wrong(f"{name}: templates", "hold something else than text", "a text for each name")
    _check_arrays(document, refs, name)
    _check_locations(document, refs, templates, name)
    for part, fields in _LISTS.items():
        for number, entry in enumerate(_part(document, part, list, name)):
            _check_fields(entry, fields, f"{name}: {part}[{number}]")
    for number, file in enumerate(_part(document, "inline_files", list, name)):
        if not isinstance(file, str):
            raise _wrong(f"{name}: inline_files[{number}]", f"is {_shown(file)}", "a name")
    _part(document, "hdf5", Mapping, name)


def _check_versions(document: Mapping[str, Any], name: str) -> None:
    version = document.get("version")
    if version not in (1, 2) or isinstance(version, bool):
        hint = " (kerchunk files without one are older than version 1)" if version is None else ""
        raise _wrong(name, f"has version {_shown(version)}{hint}", "version 1 or 2")
    form = document.get("format", FORMAT_VERSION)
    if not is_count(form) or form > FORMAT_VERSION:
        raise InvalidReferencesError(
            f"{name} has format {_shown(form)}; this version of shadowzarr reads up to {FORMAT_VERSION}. "
            "Update shadowzarr"
        )
    requires = _part(document, "requires", list, name)
    unknown = [item for item in requires if not isinstance(item, str) or item not in KNOWN_REQUIREMENTS]
    if unknown:
        raise InvalidReferencesError(
            f"{name} requires {', '.join(map(repr, unknown))}, which is unknown to this version of "
            f"shadowzarr ({', '.join(sorted(KNOWN_REQUIREMENTS))}). Update shadowzarr"
        )


def _unusual(refs: Mapping[str, Any]) -> list[str]:
    """Keys of references that are not plainly right; in one expression, for there may be a million."""
    return [
        key
        for key, value in refs.items()
        if key[:1] == "/"
        or not (
            type(value) is str
            or (
                type(value) is list
                and len(value) == 3
                and type(value[0]) is str
                and type(value[1]) is int
                and type(value[2]) is int
                and value[0]
                and 0 <= value[1] <= LARGEST - value[2]
                and value[2] >= 0
            )
        )
    ]


def _check_reference(key: str, value: Any, name: str) -> None:
    if key.startswith("/"):
        raise _wrong(f"{name}: refs[{key!r}]", "begins with a slash", "a key without it")
    match value:
        case str() | dict():
            return
        case [str(url)] if url:
            return
        case [str(url), offset, size] if url and is_count(offset) and is_count(size):
            if offset + size <= LARGEST:
                return
    raise _wrong(f"{name}: refs[{key!r}]", f"is {_shown(value)}", "text, [url] or [url, offset, size]")


def _check_locations(
    document: Mapping[str, Any], refs: Mapping[str, Any], templates: Mapping[str, str], name: str
) -> None:
    """Each place that is written out; those made of templates are looked at when these are put in."""
    listed = dict.fromkeys(value[0] for value in refs.values() if type(value) is list)
    sources = _part(document, "sources", Mapping, name)
    for text in (*listed, *templates.values(), *sources):
        check_location(text, name)
    for url, entry in sources.items():
        place = f"{name}: sources[{url!r}]"
        if not isinstance(entry, Mapping) or not is_count(entry.get("size")):
            raise _wrong(place, f"is {_shown(entry)}", "a size")
        if not isinstance(entry.get("etag") or "", str):
            raise _wrong(place, f"has etag {_shown(entry['etag'])}", "text")


def check_location(text: str, name: str) -> None:
    """Refuse a URL that cannot be taken apart.

    Parameters
    ----------
    text : str
        A location in a document; whether anything is there is not asked.
    name : str
        What messages call the document.

    Raises
    ------
    InvalidReferencesError
        With the location and what is wrong with it.
    """
    if "://" not in text or "{{" in text:
        return
    try:
        _ = urlsplit(text).port
    except ValueError as error:
        raise InvalidReferencesError(f"{name}: {text!r} is no URL: {error}") from error


def _check_fields(entry: Any, fields: tuple[str, ...], place: str) -> None:
    """An entry that people are shown has these texts."""
    if not isinstance(entry, Mapping) or not all(isinstance(entry.get(field), str) for field in fields):
        raise _wrong(place, f"is {_shown(entry)}", f"an object with {' and '.join(fields)}")


def _check_arrays(document: Mapping[str, Any], refs: Mapping[str, Any], name: str) -> None:
    if "zarr.json" not in refs and {".zgroup", ".zarray"} & refs.keys():
        raise _wrong(name, "describes a Zarr v2 store", "Zarr v3 keys (zarr.json)")
    described: list[tuple[str, str]] = []
    for number, entry in enumerate(_part(document, "gen", list, name)):
        place = f"{name}: gen[{number}]"
        _check_gen(entry, place)
        described.append((place, gen.array_path(entry)))
    for path, entry in _part(document, "indexes", Mapping, name).items():
        place = f"{name}: indexes[{path!r}]"
        _check_index(entry, place)
        described.append((place, path))
    for path, entry in _part(document, "selections", Mapping, name).items():
        place = f"{name}: selections[{path!r}]"
        _check_selection(entry, place)
        described.append((place, path))
    for place, path in described:
        if metadata_key(path) not in refs:
            raise _wrong(
                place, f"is for {'/' + path!r}, which refs does not hold", "an array of the document"
            )


def _check_gen(entry: Any, place: str) -> None:
    if not isinstance(entry, Mapping):
        raise _wrong(place, f"is {_kind(entry)}", "an object")
    for key, kind in _GEN_KEYS.items():
        if not isinstance(entry.get(key), kind):
            raise _wrong(place, f"has {key} {_shown(entry.get(key))}", "key, url and dimensions")
    check_location(entry["url"], place)
    if ("offset" in entry) != ("length" in entry):
        raise _wrong(place, "has one of offset and length", "both or neither")
    for key in ("offset", "length"):
        if not isinstance(entry.get(key, 0), str) and not is_count(entry.get(key, 0)):
            raise _wrong(place, f"has {key} {_shown(entry[key])}", "a number or an expression")
    for name, dimension in entry["dimensions"].items():
        _check_dimension(dimension, f"{place}: dimensions[{name!r}]")
    try:
        gen.check(cast("GenEntry", entry))
    except InvalidReferencesError as error:
        raise InvalidReferencesError(f"{place}: {error}") from error


def _check_dimension(dimension: Any, place: str) -> None:
    if not isinstance(dimension, Mapping) or not is_count(dimension.get("stop")):
        raise _wrong(place, f"is {_shown(dimension)}", "an object with a stop")
    if not is_count(dimension.get("start", 0)):
        raise _wrong(place, f"has start {_shown(dimension['start'])}", "a number from 0 on")
    if not is_count(dimension.get("step", 1)) or dimension.get("step", 1) < 1:
        raise _wrong(place, f"has step {_shown(dimension['step'])}", "a number from 1 on")


def _check_index(entry: Any, place: str) -> None:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("url"), str):
        raise _wrong(place, f"is {_shown(entry)}", "an object with url and index")
    check_location(entry["url"], place)
    index = entry.get("index")
    if isinstance(index, np.ndarray):
        if index.dtype != np.uint64 or index.ndim < 1 or index.shape[-1] != 2:
            raise _wrong(
                f"{place}: index", f"is {index.dtype} of shape {index.shape}", "uint64, last axis of 2"
            )
    elif not isinstance(index, str) or not index:
        raise _wrong(f"{place}: index", f"is {_shown(index)}", "where the index array is")
    else:
        check_location(index, place)
    metadata = entry.get("metadata", {})
    if not isinstance(metadata, Mapping):
        raise _wrong(f"{place}: metadata", f"is {_kind(metadata)}", "an object")
    if metadata:
        check_index_metadata(metadata, f"{place}: metadata: the array")


def _check_selection(entry: Any, place: str) -> None:
    try:
        Selection.from_entry(entry)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidReferencesError(
            f"{place} is {_shown(entry)}; expected record_size and keep ({error})"
        ) from error


def _part(document: Mapping[str, Any], part: str, kind: type, name: str) -> Any:
    value = document.get(part)
    if value is None and part != "refs":
        return kind() if kind is list else {}
    if not isinstance(value, kind):
        raise _wrong(f"{name}: {part}", f"is {_kind(value)}", "a list" if kind is list else "an object")
    return value


def _shown(value: Any) -> str:
    """A wrong value, as far as a message has room for it."""
    try:
        return repr(value)[:MOST_SHOWN]
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
        return _kind(value)


def _kind(value: Any) -> str:
    return "missing" if value is None else f"of type {type(value).__name__}"


def _wrong(place: str, found: str, expected: str) -> InvalidReferencesError:
    return InvalidReferencesError(f"{place} {found}; expected {expected}")
