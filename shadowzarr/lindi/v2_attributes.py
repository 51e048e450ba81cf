"""Attributes of the document → as LINDI writes and reads them. Pure.

LINDI's reader takes text, numbers, booleans, lists of one of these kinds, and single object references with
the identifiers of both ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .marks import OWN, REFERENCE

SPECLOC = ".specloc"
_MARKS = OWN | {"_DTYPE", "_LINKS", "_REFERENCE_FIELDS", "_ARRAY_FIELDS"}
_WORDS = frozenset({"NaN", "Infinity", "-Infinity"})
_LARGEST_INT64 = 2**63 - 1


class ObjectIds:
    """The identifiers that LINDI puts into references.

    Parameters
    ----------
    attributes : mapping
        Attributes of every node, by path.
    """

    def __init__(self, attributes: Mapping[str, Mapping[str, Any]]) -> None:
        self._attributes = attributes

    def reference(self, path: str) -> dict[str, Any] | None:
        """A reference to a node; None when there is no such node."""
        target = self._attributes.get(path.strip("/"))
        if target is None:
            return None
        return {
            REFERENCE: {
                "object_id": target.get("object_id"),
                "path": f"/{path.strip('/')}",
                "source": ".",
                "source_object_id": self._attributes.get("", {}).get("object_id"),
            }
        }


class Attributes:
    """What LINDI can say of the attributes of a node.

    Parameters
    ----------
    attributes : mapping
        Decoded.
    ids : ObjectIds
        Makes references.
    is_root : bool
        Whether ``.specloc``, a plain path in the document, is to be a reference.

    Attributes
    ----------
    values : dict
        For ``.zattrs``.
    skipped : dict
        Reasons by the names of those that LINDI cannot say.
    """

    def __init__(self, attributes: Mapping[str, Any], ids: ObjectIds, *, is_root: bool) -> None:
        self.values: dict[str, Any] = {}
        self.skipped: dict[str, str] = {}
        for name, value in attributes.items():
            if name in _MARKS:
                continue
            if is_root and name == SPECLOC and isinstance(value, str):
                value = ids.reference(value) or value
            try:
                self.values[name] = _said(value, ids)
            except ValueError as error:
                self.skipped[name] = str(error)


def _said(value: Any, ids: ObjectIds) -> Any:
    if isinstance(value, Mapping):
        mark = value.get(REFERENCE)
        if not isinstance(mark, Mapping) or "region" in mark:
            raise ValueError("a compound or a region reference, which LINDI cannot hold")
        found = ids.reference(str(mark.get("path")))
        if found is None:
            raise ValueError(f"it refers to {mark.get('path')}, which is not there")
        return found
    if isinstance(value, list):
        return _listed(value)
    return _single(value)


def _single(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str) and value in _WORDS:
        raise ValueError(f"the text {value!r}, which LINDI reads as a number")
    if isinstance(value, str | bool | int | float):
        return value
    raise ValueError("bytes or an empty value, which LINDI cannot hold")


def _listed(values: list[Any]) -> list[Any]:
    """A list, whose items LINDI's reader takes to be of one kind."""
    items = _flat(values)
    kinds = {
        str if isinstance(item, str) else bool if isinstance(item, bool) else type(item) for item in items
    }
    if not (kinds <= {str} or kinds <= {bool} or kinds <= {int, float}):
        raise ValueError("a list of references, bytes or values of several kinds, which LINDI cannot hold")
    if any(isinstance(item, int) and abs(item) > _LARGEST_INT64 for item in items):
        raise ValueError("a list of integers beyond 64 bits with a sign, which LINDI cannot read")
    return _mapped(values)


def _mapped(values: list[Any]) -> list[Any]:
    return [_mapped(item) if isinstance(item, list) else _single(item) for item in values]


def _flat(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in values:
        found += _flat(item) if isinstance(item, list) else [item]
    return found
