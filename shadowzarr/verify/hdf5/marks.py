"""What the convention must add to the attributes of the node that stands for a dataset, or lies in one.

Worked out from the kind of the dataset alone; the node says only whether a compound is an array or a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .kinds import Form, Kind, is_unicode


def marks(kind: Kind, shape: Sequence[int], data_type: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The right attributes of the convention, by name.

    Parameters
    ----------
    kind : Kind
        What zarr must show.
    shape : sequence of int
        Of the dataset, or of what is in the group, without the axes of an array datatype.
    data_type : JSON
        As the node's metadata names it; None for a group.
    given : mapping
        The node's attributes, of which names of members are taken where the convention leaves a choice.
    """
    whole = [*shape, *kind.axes]
    if kind.form is Form.RAGGED:
        return {"_RAGGED": {"shape": whole}}
    if kind.form is Form.COMPOUND and data_type is None:
        return {"_COLUMNS": {"shape": whole, "fields": column_fields(kind, given)}}
    found: dict[str, Any] = {}
    if kind.label is not None:
        found["_DTYPE"] = _label(kind, data_type)
    if kind.reference_fields:
        found["_REFERENCE_FIELDS"] = kind.reference_fields
    if array_fields(kind):
        found["_ARRAY_FIELDS"] = array_fields(kind)
    return found


def column_fields(kind: Kind, given: Mapping[str, Any]) -> list[dict[str, str]]:
    """Fields of a compound and the members that hold them: named alike, or all of them by their numbers."""
    names = [name for name, _ in kind.fields]
    numbered = [{"name": name, "member": str(number)} for number, name in enumerate(names)]
    marker = given.get("_COLUMNS")
    stored = marker.get("fields") if isinstance(marker, Mapping) else None
    is_free = all(_is_node_name(name) for name in names)
    return (
        numbered if stored == numbered or not is_free else [{"name": name, "member": name} for name in names]
    )


def _is_node_name(name: str) -> bool:
    return name not in ("", ".", "..", "c", "zarr.json") and not set("/\\") & set(name) and is_unicode(name)


def array_fields(kind: Kind) -> list[dict[str, Any]]:
    """Fields of a compound that are arrays, with the names on the way to them and their shapes."""
    found: list[dict[str, Any]] = []
    for name, field in kind.fields:
        if field.axes:
            found.append({"field": [name], "shape": list(field.axes)})
        for entry in array_fields(field):
            found.append({"field": [name, *entry["field"]], "shape": entry["shape"]})
    return found


def _label(kind: Kind, data_type: Any) -> str:
    assert kind.label is not None  # noqa: S101 - the caller looked
    if kind.form is not Form.TEXT or data_type == "string":
        return kind.label
    if not isinstance(data_type, Mapping):
        return "bytes"
    length = data_type.get("configuration", {}).get("length_bytes", 0)
    return np.dtype(f"S{length}").name
