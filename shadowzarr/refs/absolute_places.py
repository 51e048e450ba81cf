"""Local files by absolute paths: what a document in memory names means the same wherever it is written. Pure.

In memory a relative path is one from the working directory; in a written document it would be one from the
document's folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, cast

from .document import Rfs
from .templates import expand, expand_plain, make_templates, placeholder

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|file:")


def is_absolute(place: str) -> bool:
    """Whether a name in a document says by itself where a file is."""
    return os.path.isabs(place) or _SCHEME.match(place) is not None  # noqa: PTH117


def with_absolute_places(rfs: Rfs) -> Rfs:
    """The same references with local files by absolute paths.

    Where one was relative, or has braces that a document with templates would take for one, the templates are
    made anew; all others are as they were. The document that is given is not changed.
    """
    templates = rfs.get("templates") or {}
    texts = dict.fromkeys(_texts(rfs))
    plain = {text: _absolute(expand(text, templates)) for text in texts}
    indexes = {path: _absolute(entry["url"]) for path, entry in (rfs.get("indexes") or {}).items()}
    is_same = all(indexes[path] == entry["url"] for path, entry in (rfs.get("indexes") or {}).items())
    if is_same and all(_stands(text, place, templates) for text, place in plain.items()):
        return rfs
    made = make_templates(plain.values())
    names = {place: placeholder(name) for name, place in made.items()}
    named = {text: names[place] for text, place in plain.items()}
    whole = cast("dict[str, Any]", dict(rfs)) | {
        "refs": {
            key: [named[value[0]], *value[1:]] if isinstance(value, list) else value
            for key, value in rfs["refs"].items()
        },
        "gen": [{**entry, "url": named[entry["url"]]} for entry in rfs.get("gen") or ()],
        "indexes": {path: {**rfs["indexes"][path], "url": url} for path, url in indexes.items()},
        "sources": {
            _absolute(expand_plain(url, templates)): entry
            for url, entry in (rfs.get("sources") or {}).items()
        },
        "templates": made,
    }
    return cast("Rfs", {key: part for key, part in whole.items() if part or key in rfs})


def _texts(rfs: Rfs) -> Iterator[str]:
    """How references and rules spell the files that they name."""
    yield from (value[0] for value in rfs["refs"].values() if isinstance(value, list))
    yield from (entry["url"] for entry in rfs.get("gen") or ())


def _stands(text: str, place: str, templates: dict[str, str]) -> bool:
    """Whether a text that means a place can be written as it is."""
    return expand(text, templates) == place and (bool(templates) or "{{" not in text)


def _absolute(place: str) -> str:
    return place if not place or is_absolute(place) else os.path.abspath(place)  # noqa: PTH100
