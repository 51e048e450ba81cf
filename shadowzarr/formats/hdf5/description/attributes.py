"""Attributes of one object: type, shape and values where the Zarr side does not give them exactly.

What the Zarr side gives is turned back into HDF5 values in the way `to_hdf5` does it; only where the result
differs from the file is the value described.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from h5py import h5t

from ....hdf5_types.defaults import CONVENTION, default_attribute
from ....hdf5_types.heap import release
from ....hdf5_types.memory import element_type
from ....hdf5_types.names import name_to_text
from ....hdf5_types.references import References
from ....hdf5_types.spaces import NULL, dims_of
from ....hdf5_types.values_from_json import values_from_json
from ....hdf5_types.values_to_json import values_to_json
from ..reasons import CannotRepresentError, reading
from ..stored_attributes import StoredAttribute
from .facts import Facts, Unread
from .reading import exact_values
from .section import Section

_MISSING = object()
_DIFFERS = (ValueError, TypeError, KeyError, OverflowError)


def describe_attributes(
    facts: Facts, path: str, held: Mapping[str, Any], section: Section, references: References
) -> dict[str, Any]:
    """What the Zarr side does not say about an object's attributes.

    Parameters
    ----------
    facts : Facts
        The object.
    path : str
        Its path in the section.
    held : mapping
        Attributes of its node, decoded.
    section : Section
        Collects types, and what cannot be described.
    references : References
        The objects of the file.

    Returns
    -------
    dict
        ``attributes``, ``attributesAbsent`` and ``attributeOrder``, each where there is any.
    """
    if facts.attributes.rest:
        section.not_described(path, "attribute", facts.attributes.rest)
    described: dict[str, Any] = {}
    known: set[str] = set()
    for attribute in facts.attributes.found:
        name = name_to_text(attribute.name)
        known.add(name)
        try:
            entry = _entry(attribute, held.get(name, _MISSING), facts, section, references)
        except CannotRepresentError as error:
            section.not_described(f"{path}@{name}", "attribute", str(error))
            continue
        if entry != {}:
            described[name] = entry
    absent = sorted(name for name in held if name not in known and name not in CONVENTION)
    parts: dict[str, Any] = {"attributes": described, "attributesAbsent": absent}
    found = {name: part for name, part in parts.items() if part}
    order = list(map(name_to_text, facts.order))
    return found | {"attributeOrder": section.order_entry(order)} if order else found


def _entry(
    attribute: StoredAttribute, held: Any, facts: Facts, section: Section, references: References
) -> Any:
    """What has to be said of one attribute; a type alone stands by itself."""
    known, shape = attribute.type, attribute.space
    if known is None:
        raise CannotRepresentError(attribute.reason)
    with reading():
        described = section.type_json(known, attribute.committed)
    usual, usual_shape = (None, None) if held is _MISSING else default_attribute(held)
    entry: dict[str, Any] = {}
    if described != usual:
        entry["type"] = section.type_entry(described)
    if shape != usual_shape:
        entry["shape"] = shape
    if shape != NULL and (entry or not _is_exact(held)):
        value = _value(attribute, facts, references)
        if held is _MISSING or not _is_kept(known.tid, dims_of(shape), held, value, references):
            if not section.has_room(value):
                raise CannotRepresentError("its values are more than the section holds")
            entry["value"] = value
    return entry["type"] if set(entry) == {"type"} else entry


def _value(attribute: StoredAttribute, facts: Facts, references: References) -> Any:
    value = facts.values.get(attribute.name, _MISSING)
    if value is _MISSING:
        return exact_values(attribute, references)
    if isinstance(value, Unread):
        raise CannotRepresentError(value.reason)
    return value


def _is_exact(held: Any) -> bool:
    """Whether a value of the usual type and shape needs no look: JSON keeps all of it.

    Text, whole numbers, and floating-point numbers but NaN, whose bits may be any; no booleans, which may be
    other numbers in the file.
    """
    if isinstance(held, list):
        return all(map(_is_exact, held))
    return type(held) in (str, int) or (type(held) is float and not math.isnan(held))


def _is_kept(tid: h5t.TypeID, dims: tuple[int, ...], held: Any, value: Any, references: References) -> bool:
    """Whether what the Zarr side holds becomes the file's value again."""
    try:
        values = values_from_json(tid, dims, held, references)
    except _DIFFERS:
        return False
    base, _ = element_type(tid)
    try:
        return bool(values_to_json(tid, values, references) == value)
    finally:
        release(base, values)
