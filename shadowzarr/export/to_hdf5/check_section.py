"""Has the ``hdf5`` section of a document the form that is written here? Pure.

Only the form of its parts is looked at; what HDF5 cannot make of them is left out by name when it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...errors import InvalidReferencesError

_SECTION: Final = {
    "file": Mapping,
    "types": list,
    "creations": list,
    "usualCreations": Mapping,
    "orders": list,
    "objects": Mapping,
    "notDescribed": list,
}
_FILE: Final = {"superblock": int, "userblock": Mapping, "linkCharSet": str}
_OBJECT: Final = {
    "class": str,
    "type": (int, str, Mapping),
    "shape": Mapping,
    "maxdims": list,
    "creation": int,
    "attributes": Mapping,
    "attributesAbsent": list,
    "attributeOrder": int,
    "links": Mapping,
    "linkOrder": int,
    "linkCharSets": Mapping,
    "comment": str,
}
_CLASSES: Final = ("group", "dataset", "datatype")


def check_section(section: Mapping[str, Any]) -> None:
    """Refuse a section whose parts are of other types than they have to be.

    Raises
    ------
    InvalidReferencesError
        With the part.
    """
    _check_types(section, _SECTION, "hdf5")
    _check_types(section.get("file", {}), _FILE, "hdf5: file")
    _check_items(section.get("creations", []), Mapping, "hdf5: creations")
    _check_items(section.get("usualCreations", {}).values(), int, "hdf5: usualCreations")
    for number, order in enumerate(section.get("orders", [])):
        _check_items(order if isinstance(order, list) else [order], str, f"hdf5: orders[{number}]")
    for number, item in enumerate(section.get("notDescribed", [])):
        if not isinstance(item, Mapping) or not {"path", "what", "reason"} <= item.keys():
            raise _wrong(f"hdf5: notDescribed[{number}]", item)
        _check_items(item.values(), str, f"hdf5: notDescribed[{number}]")
    for path, entry in section.get("objects", {}).items():
        _check_object(path, entry)


def _check_object(path: str, entry: Any) -> None:
    place = f"hdf5: objects[{path!r}]"
    if not path.startswith("/") or not isinstance(entry, Mapping):
        raise _wrong(place, entry)
    _check_types(entry, _OBJECT, place)
    if entry.get("class", "group") not in _CLASSES:
        raise _wrong(f"{place}: class", entry["class"])
    _check_items(entry.get("attributesAbsent", ()), str, f"{place}: attributesAbsent")
    _check_items(entry.get("linkCharSets", {}).values(), str, f"{place}: linkCharSets")
    for name, described in entry.get("attributes", {}).items():
        _check_types({name: described}, {name: (int, str, Mapping)}, f"{place}: attributes")
        if isinstance(described, Mapping):
            _check_types(described, {"type": _OBJECT["type"], "shape": Mapping}, f"{place}: attributes")
    for name, link in entry.get("links", {}).items():
        if not isinstance(link, Mapping) or not isinstance(link.get("class"), str):
            raise _wrong(f"{place}: links[{name!r}]", link)


def _check_types(part: Mapping[str, Any], types: Mapping[str, Any], place: str) -> None:
    for name, kind in types.items():
        if name in part and (not isinstance(part[name], kind) or isinstance(part[name], bool)):
            raise _wrong(f"{place}: {name}", part[name])


def _check_items(items: Any, kind: type, place: str) -> None:
    for item in items:
        if not isinstance(item, kind) or isinstance(item, bool):
            raise _wrong(place, item)


def _wrong(place: str, found: Any) -> InvalidReferencesError:
    return InvalidReferencesError(
        f"{place} is of another form than the format has it ({type(found).__name__})"
    )
