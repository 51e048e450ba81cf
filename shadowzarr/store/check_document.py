"""Is this a reference file system that can be read here? Checks that name the place. Pure.

Called for every document that is loaded, so it looks at each reference once and at little of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidReferencesError
from ..refs import gen
from ..refs.chunk_key import metadata_key
from ..refs.document import FORMAT_VERSION, KNOWN_REQUIREMENTS
from ..refs.selection import Selection

_GEN_KEYS = {"key": str, "url": str, "dimensions": Mapping}


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
    for url, entry in _part(document, "sources", Mapping, name).items():
        if not isinstance(entry, Mapping) or not _is_count(entry.get("size")):
            raise _wrong(f"{name}: sources[{url!r}]", f"is {entry!r}", "a size")


def _check_versions(document: Mapping[str, Any], name: str) -> None:
    version = document.get("version")
    if version not in (1, 2) or isinstance(version, bool):
        hint = " (kerchunk files without one are older than version 1)" if version is None else ""
        raise _wrong(name, f"has version {version!r}{hint}", "version 1 or 2")
    form = document.get("format", FORMAT_VERSION)
    if not _is_count(form) or form > FORMAT_VERSION:
        raise InvalidReferencesError(
            f"{name} has format {form!r}; this version of shadowzarr reads up to {FORMAT_VERSION}. "
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
                and value[1] >= 0 <= value[2]
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
        case [str(url), offset, size] if url and _is_count(offset) and _is_count(size):
            return
    raise _wrong(f"{name}: refs[{key!r}]", f"is {str(value)[:80]}", "text, [url] or [url, offset, size]")


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
            raise _wrong(place, f"has {key} {entry.get(key)!r}", "key, url and dimensions")
    if ("offset" in entry) != ("length" in entry):
        raise _wrong(place, "has one of offset and length", "both or neither")
    for name, dimension in entry["dimensions"].items():
        if not isinstance(dimension, Mapping) or not _is_count(dimension.get("stop")):
            raise _wrong(f"{place}: dimensions[{name!r}]", f"is {dimension!r}", "an object with a stop")


def _check_index(entry: Any, place: str) -> None:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("url"), str):
        raise _wrong(place, f"is {str(entry)[:80]}", "an object with url and index")
    index = entry.get("index")
    if isinstance(index, np.ndarray):
        if index.dtype != np.uint64 or index.ndim < 1 or index.shape[-1] != 2:
            raise _wrong(
                f"{place}: index", f"is {index.dtype} of shape {index.shape}", "uint64, last axis of 2"
            )
    elif not isinstance(index, str) or not index:
        raise _wrong(f"{place}: index", f"is {str(index)[:80]}", "where the index array is")
    if not isinstance(entry.get("metadata", {}), Mapping):
        raise _wrong(f"{place}: metadata", f"is {_kind(entry['metadata'])}", "an object")


def _check_selection(entry: Any, place: str) -> None:
    try:
        Selection.from_entry(entry)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidReferencesError(
            f"{place} is {entry!r}; expected record_size and keep ({error})"
        ) from error


def _part(document: Mapping[str, Any], part: str, kind: type, name: str) -> Any:
    value = document.get(part)
    if value is None and part != "refs":
        return kind() if kind is list else {}
    if not isinstance(value, kind):
        raise _wrong(f"{name}: {part}", f"is {_kind(value)}", "a list" if kind is list else "an object")
    return value


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _kind(value: Any) -> str:
    return "missing" if value is None else f"of type {type(value).__name__}"


def _wrong(place: str, found: str, expected: str) -> InvalidReferencesError:
    return InvalidReferencesError(f"{place} {found}; expected {expected}")
