"""Reference documents in kerchunk's form, of any writer → each key with its value, URLs written out.

Pure. Versions 0 and 1 of kerchunk's reference specification ("References specification"): keys of the
store alone, or ``refs`` with ``templates`` and ``gen``. kerchunk evaluates templates with a template
engine; `kerchunk_templates` knows the part of it that the specification shows, and runs no code. Documents
of our own are read by ``store.load_rfs``.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import InvalidReferencesError
from .document import Reference
from .kerchunk_templates import render
from .node_checks import LARGEST, is_count

MOST_GENERATED = 2**21
"""References that all rules of a document may stand for: each becomes a key here, as in kerchunk's reader."""


def listed_references(document: Any, name: str) -> dict[str, Reference]:
    """Every key that a document gives a value.

    Parameters
    ----------
    document
        Parsed JSON. Without ``refs`` it is of version 0.
    name : str
        What messages call it.

    Returns
    -------
    dict
        Text (``"base64:…"`` or plain), ``[url]`` or ``[url, offset, length]`` by key. Later rules win over
        earlier ones and over ``refs``, as with kerchunk's reader.

    Raises
    ------
    InvalidReferencesError
        When it is no such document; the message names the place.
    """
    if not isinstance(document, Mapping):
        raise _wrong(name, f"is of type {type(document).__name__}", "a JSON object of references")
    if not isinstance(document.get("refs"), Mapping):
        if "refs" in document or "version" in document:
            raise _wrong(f"{name}: refs", "is missing or no object", "an object of keys and values")
        return {key: _reference(key, value, {}, {}, name) for key, value in document.items()}
    _check_version(document, name)
    templates = _part(document, "templates", dict, name)
    if not all(isinstance(text, str) for text in templates.values()):
        raise _wrong(f"{name}: templates", "hold something else than text", "a text for each name")
    known: dict[str, str] = {}
    refs = {key: _reference(key, value, templates, known, name) for key, value in document["refs"].items()}
    rules = {f"{name}: gen[{n}]": rule for n, rule in enumerate(_part(document, "gen", list, name))}
    ranges = {place: _ranges(rule, place) for place, rule in rules.items()}
    counts = itertools.accumulate(math.prod(map(len, each.values())) for each in ranges.values())
    for place, count in zip(rules, counts, strict=True):
        if count > MOST_GENERATED:
            raise _wrong(place, "stands for too many references", f"at most {MOST_GENERATED:,} in all rules")
    for place, rule in rules.items():
        refs.update(_expanded(rule, ranges[place], templates, place))
    return refs


def _check_version(document: Mapping[str, Any], name: str) -> None:
    version = document.get("version", 1)
    if version == 2:
        raise InvalidReferencesError(
            f"{name} has version 2, which is shadowzarr's own form; load_rfs reads it as it is"
        )
    if version != 1 or isinstance(version, bool):
        raise _wrong(name, f"has version {str(version)[:40]!r}", "version 1, or keys alone (version 0)")


def _part(document: Mapping[str, Any], part: str, kind: type, name: str) -> Any:
    found = document.get(part)
    if found is not None and not isinstance(found, kind):
        raise _wrong(f"{name}: {part}", f"is of type {type(found).__name__}", f"a {kind.__name__}")
    return found or kind()


def _reference(key: Any, value: Any, templates: Mapping[str, str], known: dict[str, str], name: str) -> Any:
    match value:
        case str():
            return value
        case dict():
            return json.dumps(value, separators=(",", ":"))
        case [str(url)] if url:
            return [_url(url, templates, known)]
        case [str(url), offset, length] if url and is_count(offset) and is_count(length):
            if offset + length <= LARGEST:
                return [_url(url, templates, known), offset, length]
        case [None, *_]:
            raise _wrong(
                f"{name}: refs[{key!r}]", "names no file (null, for a target given when it is read)", "a URL"
            )
    raise _wrong(f"{name}: refs[{key!r}]", f"is {str(value)[:60]}", "text, [url] or [url, offset, length]")


def _url(text: str, templates: Mapping[str, str], known: dict[str, str]) -> str:
    if "{{" not in text or not templates:  # as kerchunk's reader: without templates braces are part of a URL
        return text
    if text not in known:
        known[text] = render(text, templates, {})
    return known[text]


def _ranges(rule: Any, place: str) -> dict[str, range | list[Any]]:
    """Values of the dimensions of a rule, which is checked."""
    if not isinstance(rule, Mapping) or not all(isinstance(rule.get(part), str) for part in ("key", "url")):
        raise _wrong(place, "has no key and url", "an object with key, url and dimensions")
    if ("offset" in rule) != ("length" in rule):
        raise _wrong(place, "has an offset or a length alone", "both or neither")
    dimensions = rule.get("dimensions")
    if not isinstance(dimensions, Mapping):
        raise _wrong(place, "has no dimensions", "a range or a list for each name")
    return {name: _numbers(entry, f"{place}: {name}") for name, entry in dimensions.items()}


def _expanded(
    rule: Any, ranges: Mapping[str, range | list[Any]], templates: Mapping[str, str], place: str
) -> Iterator[tuple[str, Reference]]:
    for numbers in itertools.product(*ranges.values()):
        values = dict(zip(ranges, numbers, strict=True))
        yield render(rule["key"], templates, values), _generated(rule, templates, values, place)


def _generated(rule: Any, templates: Mapping[str, str], values: Mapping[str, Any], place: str) -> Reference:
    url = render(rule["url"], templates, values)
    if "offset" not in rule:
        return [url]
    ends = [render(str(rule[part]), templates, values).strip() for part in ("offset", "length")]
    if not all(end.isascii() and end.isdigit() and is_count(int(end)) for end in ends):
        raise _wrong(place, f"gives offset {ends[0][:30]!r} and length {ends[1][:30]!r}", "whole numbers")
    return [url, *map(int, ends)]


def _numbers(entry: Any, place: str) -> range | list[Any]:
    """Values of a dimension: a list of them, or a range."""
    if isinstance(entry, list) and all(isinstance(item, str | int) for item in entry):
        return entry
    if isinstance(entry, Mapping):
        start, stop, step = entry.get("start", 0), entry.get("stop", 0), entry.get("step", 1)
        if "stop" in entry and all(map(is_count, (start, stop, step))) and step:
            return range(start, stop, step)
    raise _wrong(place, f"is {str(entry)[:60]}", "a list, or stop and perhaps start and step")


def _wrong(place: str, found: str, expected: str) -> InvalidReferencesError:
    return InvalidReferencesError(f"{place} {found}; expected {expected}")
