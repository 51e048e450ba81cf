"""Text, references and compounds → arrays of objects in JSON, which LINDI holds in the document. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..zarr_v2.reasons import NoV2FormError
from .marks import COMPOUND, REFERENCE_TYPE, SCALAR
from .v2_attributes import ObjectIds
from .v2_numbers import Made

Values = np.ndarray[Any, Any]

_JSON_CODEC: dict[str, Any] = {
    "id": "json2",
    "encoding": "utf-8",
    "allow_nan": True,
    "check_circular": True,
    "ensure_ascii": True,
    "indent": None,
    "separators": [",", ":"],
    "skipkeys": False,
    "sort_keys": True,
    "strict": True,
}
"""What numcodecs' JSON writes of itself; zarr 2 makes the codec from it."""


def is_held(node: Mapping[str, Any]) -> bool:
    """Whether LINDI holds the values of an array as text or JSON."""
    data_type = node["data_type"]
    return data_type == "string" or (isinstance(data_type, Mapping) and data_type.get("name") == "struct")


def held_array(
    node: Mapping[str, Any], attributes: Mapping[str, Any], values: Values, ids: ObjectIds
) -> Made:
    """What an array of text, references or compounds becomes.

    Parameters
    ----------
    node, attributes : mapping
        Its ``zarr.json`` and its decoded attributes.
    values : numpy.ndarray
        All of them.
    ids : ObjectIds
        Makes references.

    Raises
    ------
    NoV2FormError
        When LINDI cannot hold them.
    """
    if node["data_type"] != "string":
        return _table(values, attributes, ids)
    label = attributes.get("_DTYPE")
    if label == "region_reference":
        raise NoV2FormError("region references, which LINDI cannot hold")
    items: list[Any] = values.reshape(-1).tolist()
    if label == "object_reference":
        items = [_reference(item, ids) for item in items]
    elif values.ndim == 0 and items[0] and not items[0].endswith("\0"):
        return _scalar_text(items[0])
    return _objects(items, values.shape, {})


def _scalar_text(text: str) -> Made:
    """As LINDI writes it: an array of one text of fixed width."""
    dtype = np.dtype(f"<U{len(text)}")
    data = base64.b64encode(np.array([text], dtype).tobytes()).decode()
    zarray = _zarray((1,), dtype.str, None) | {"fill_value": ""}
    return zarray, {SCALAR: True}, {"0": f"base64:{data}"}


def _objects(items: Sequence[Any], shape: tuple[int, ...], marks: dict[str, Any]) -> Made:
    if not shape:
        shape, marks = (1,), {**marks, SCALAR: True}
    zarray = _zarray(shape, "|O", [_JSON_CODEC])
    if not items:
        return zarray, marks, {}
    text = json.dumps([*_nested(items, shape), "|O", list(shape)], separators=(",", ":"))
    return zarray, marks, {".".join("0" * len(shape)): text}


def _nested(items: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
    if len(shape) == 1:
        return list(items)
    step = len(items) // shape[0]
    return [_nested(items[n * step : (n + 1) * step], shape[1:]) for n in range(shape[0])]


def _zarray(shape: tuple[int, ...], dtype: str, filters: Any) -> dict[str, Any]:
    return {
        "chunks": [max(1, extent) for extent in shape],
        "compressor": None,
        "dtype": dtype,
        "fill_value": 0,
        "filters": filters,
        "order": "C",
        "shape": list(shape),
        "zarr_format": 2,
    }


def _table(values: Values, attributes: Mapping[str, Any], ids: ObjectIds) -> Made:
    if values.ndim != 1 or "_ARRAY_FIELDS" in attributes:
        raise NoV2FormError(
            "a compound with arrays in it, or with other than one axis, which LINDI cannot read"
        )
    references = set(attributes.get("_REFERENCE_FIELDS") or [])
    fields, columns = [], []
    for name in values.dtype.names or ():
        dtype = values.dtype[name]
        if name in references:
            columns.append([_reference(item, ids) for item in values[name].tolist()])
            fields.append([name, REFERENCE_TYPE])
        elif dtype.kind in "biufU" and dtype.subdtype is None:
            columns.append(values[name].tolist())
            fields.append([name, _field_type(dtype, columns[-1])])
        else:
            raise NoV2FormError(f"a compound with the field {name!r} of {dtype}, which LINDI cannot hold")
    rows = [list(row) for row in zip(*columns, strict=True)]
    return _objects(rows, values.shape, {COMPOUND: fields})


def _field_type(dtype: np.dtype[Any], items: list[Any]) -> str:
    if dtype.kind == "U":
        return f"<U{max([1, *map(len, items)])}"
    return str(dtype.newbyteorder("=").name)


def _reference(path: str, ids: ObjectIds) -> dict[str, Any]:
    found = ids.reference(path) if path else None
    if found is None:
        raise NoV2FormError("references that are null or lead nowhere, which LINDI cannot hold")
    return found
