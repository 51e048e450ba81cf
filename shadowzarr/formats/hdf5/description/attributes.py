"""Attributes of one object: type, shape and values where the Zarr side does not give them exactly.

What the Zarr side gives is turned back into HDF5 values in the way `to_hdf5` does it; only where the result
differs from the file is the value described.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from h5py import h5, h5a, h5t

from ....hdf5_types.defaults import CONVENTION, default_attribute
from ....hdf5_types.heap import release
from ....hdf5_types.memory import element_type
from ....hdf5_types.names import name_to_text
from ....hdf5_types.references import References
from ....hdf5_types.spaces import NULL, dims_of, space_to_json
from ....hdf5_types.values_from_json import values_from_json
from ....hdf5_types.values_to_json import values_to_json
from ..reasons import CannotRepresentError, reading
from .reading import attribute_values
from .section import Section

_MISSING = object()
_DIFFERS = (ValueError, TypeError, KeyError, OverflowError)


def describe_attributes(
    item: Any,
    path: str,
    held: Mapping[str, Any],
    section: Section,
    references: References,
    *,
    is_ordered: bool,
) -> dict[str, Any]:
    """What the Zarr side does not say about an object's attributes.

    Parameters
    ----------
    item : h5py.h5g.GroupID, h5py.h5d.DatasetID or h5py.h5t.TypeID
        The object.
    path : str
        Its path in the section.
    held : mapping
        Attributes of its node, decoded.
    section : Section
        Collects types, and what cannot be described.
    references : References
        The objects of the file.
    is_ordered : bool
        Whether the object tracks the order of its attributes.

    Returns
    -------
    dict
        ``attributes``, ``attributesAbsent`` and ``attributeOrder``, each where there is any.
    """
    names: list[bytes] = []
    try:
        with reading("the rest of its attributes"):
            h5a.iterate(item, lambda name, *_: names.append(name))
    except CannotRepresentError as error:
        section.not_described(path, "attribute", str(error))
    described: dict[str, Any] = {}
    for name in sorted(names):
        text = name_to_text(name)
        try:
            entry = _entry(item, name, held.get(text, _MISSING), section, references)
        except CannotRepresentError as error:
            section.not_described(f"{path}@{text}", "attribute", str(error))
            continue
        if entry != {}:
            described[text] = entry
    known = {name_to_text(name) for name in names}
    absent = sorted(name for name in held if name not in known and name not in CONVENTION)
    parts: dict[str, Any] = {"attributes": described, "attributesAbsent": absent}
    found = {name: part for name, part in parts.items() if part}
    order = _order(item, names) if is_ordered else []
    return found | {"attributeOrder": section.order_entry(order)} if order else found


def _entry(item: Any, name: bytes, held: Any, section: Section, references: References) -> Any:
    """What has to be said of one attribute; a type alone stands by itself."""
    with reading():
        attribute = h5a.open(item, name)
        tid, shape = attribute.get_type(), space_to_json(attribute.get_space())
        described = section.type_json(tid)
    usual, usual_shape = (None, None) if held is _MISSING else default_attribute(held)
    entry: dict[str, Any] = {}
    if described != usual:
        entry["type"] = section.type_entry(described)
    if shape != usual_shape:
        entry["shape"] = shape
    if shape != NULL and (entry or not _is_exact(held)):
        value = attribute_values(attribute, tid, references)
        if held is _MISSING or not _is_kept(tid, dims_of(shape), held, value, references):
            if not section.has_room(value):
                raise CannotRepresentError("its values are more than the section holds")
            entry["value"] = value
    return entry["type"] if set(entry) == {"type"} else entry


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


def _order(item: Any, names: list[bytes]) -> list[str]:
    """Names in the order in which they were made; none when that is the order of names."""
    ordered: list[bytes] = []
    try:
        with reading():
            h5a.iterate(item, lambda name, *_: ordered.append(name), index_type=h5.INDEX_CRT_ORDER)
    except CannotRepresentError:
        return []
    return [] if ordered == sorted(names) else list(map(name_to_text, ordered))
