"""The section while it is made: tables of what many objects share, and what could not be described."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

from ....hdf5_types.names import path_to_text
from ....hdf5_types.type_names import COMMITTED
from ..known_types import KnownType

SECTION_VERSION = 1
"""Version of the section's own form."""

VALUES_LIMIT = 4 * 2**20
"""Bytes of values, in JSON, that the section holds at most."""

KIND = "kind"
"""Key of an entry for `Section.build` alone: which kind of object it is."""

What = Literal["object", "attribute", "values", "fill value", "link"]


class Section:
    """Collects the section of one file.

    Parameters
    ----------
    committed : callable
        Gives the path of the committed type at an address, if it has one.
    """

    def __init__(self, committed: Callable[[int], bytes | None]) -> None:
        self._committed = committed
        self._types: dict[str, int] = {}
        self._creations: dict[str, int] = {}
        self._orders: dict[str, int] = {}
        self._usual: dict[str, Counter[int]] = {}
        self._room = VALUES_LIMIT
        self._not_described: list[dict[str, str]] = []
        self.file: dict[str, Any] = {}
        self.objects: dict[str, dict[str, Any]] = {}

    def type_json(self, known: KnownType, committed: int | None) -> Any:
        """A datatype as JSON: what it is, or the name of the committed one at an address."""
        path = None if committed is None else self._committed(committed)
        return known.described if path is None else COMMITTED + path_to_text(path)

    def type_entry(self, described: Any) -> Any:
        """A datatype as an object refers to it: its number in the table, or the name of a committed one."""
        return described if isinstance(described, str) else _number(self._types, described)

    def creation_entry(self, kind: str, described: dict[str, Any]) -> int:
        """Creation properties as an object refers to them; `build` leaves out what most of a kind have."""
        number = _number(self._creations, described)
        self._usual.setdefault(kind, Counter())[number] += 1
        return number

    def order_entry(self, names: list[str]) -> int:
        """Names in an order, as an object refers to them."""
        return _number(self._orders, names)

    def has_room(self, value: Any) -> bool:
        """Whether the section may hold these values; takes their room if so."""
        nbytes = len(json.dumps(value))
        if nbytes > self._room:
            return False
        self._room -= nbytes
        return True

    def not_described(self, path: str, what: What, reason: str) -> None:
        """Name something that could not be described."""
        self._not_described.append({"path": path, "what": what, "reason": reason})

    def build(self) -> dict[str, Any]:
        """The section as JSON; parts without content are left out."""
        usual = {kind: counts.most_common(1)[0][0] for kind, counts in self._usual.items()}
        objects = {path: _without(entry, usual) for path, entry in self.objects.items()}
        parts = {
            "file": self.file,
            "types": _table(self._types),
            "creations": _table(self._creations),
            "usualCreations": usual if any(_table(self._creations)) else {},
            "orders": _table(self._orders),
            "objects": {path: entry for path, entry in objects.items() if entry},
            "notDescribed": self._not_described,
        }
        return {"version": SECTION_VERSION, **{name: part for name, part in parts.items() if part}}


def _without(entry: dict[str, Any], usual: dict[str, int]) -> dict[str, Any]:
    """An object without creation properties that are usual, and without what only says its kind."""
    kind = entry[KIND]
    is_usual = entry.get("creation") == usual.get(kind)
    return {
        name: part for name, part in entry.items() if name != KIND and not (name == "creation" and is_usual)
    }


def _number(table: dict[str, int], described: Any) -> int:
    return table.setdefault(json.dumps(described), len(table))


def _table(table: dict[str, int]) -> list[Any]:
    return [json.loads(text) for text in table]
