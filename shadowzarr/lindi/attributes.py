"""Attributes as LINDI writes them → as the document has them. Pure.

Numbers that are not finite are text there, without a mark; a reference is an object with ``object_id`` and
``source_object_id`` beside its path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .marks import OWN, REFERENCE

_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_RESERVED = frozenset(
    {"_DTYPE", "_LINKS", "_REFERENCE_FIELDS", "_ARRAY_FIELDS", "_RAGGED", "_COLUMNS", "_NULL_DATASPACE"}
)
_CONVENTIONS = "zarr_conventions"

Resolve = Callable[[str], "str | None"]


def attributes_of(attributes: Mapping[str, Any], resolve: Resolve) -> tuple[dict[str, Any], dict[str, str]]:
    """Attributes of an object.

    Parameters
    ----------
    attributes : mapping
        ``.zattrs``.
    resolve : callable
        Absolute path of the node at a path; None when there is none.

    Returns
    -------
    values : dict
        By name, in the order of names; NaN and infinities are themselves.
    skipped : dict
        Reasons by the names of those that are left out.
    """
    values: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    for name in sorted(attributes.keys() - OWN):
        if name in _RESERVED or name == _CONVENTIONS:
            skipped[name] = "its name is reserved by the convention"
            continue
        try:
            values[name] = _value(attributes[name], resolve)
        except LookupError as error:
            skipped[name] = str(error.args[0])
    return values, skipped


def reference_path(value: Any) -> str | None:
    """The path in a reference; None for anything else."""
    mark = value.get(REFERENCE) if isinstance(value, Mapping) and len(value) == 1 else None
    path = mark.get("path") if isinstance(mark, Mapping) else None
    return path if isinstance(path, str) else None


def _value(value: Any, resolve: Resolve) -> Any:
    if isinstance(value, list):
        return _listed(value, resolve)
    path = reference_path(value)
    if path is not None:
        found = resolve(path)
        if found is None:
            raise LookupError(f"it refers to {path}, which is left out")
        return {REFERENCE: {"source": ".", "path": found}}
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _listed(values: list[Any], resolve: Resolve) -> list[Any]:
    """A list; words for numbers among texts are texts."""
    if any(isinstance(item, str) and item not in _WORDS for item in _flat(values)):
        return values
    return [_value(item, resolve) for item in values]


def _flat(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in values:
        found += _flat(item) if isinstance(item, list) else [item]
    return found
