"""Attributes ↔ their stored form: both conventions together, in either order.

The texts that one convention escapes are never texts that the other escapes, so the order of the two
makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._convention import REGISTRY_KEY
from .bytes_attributes import BYTES
from .non_finite import NON_FINITE


def encode_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as they are stored in ``zarr.json``: strict JSON.

    Parameters
    ----------
    attributes : mapping
        Values of JSON, and besides them NaN, infinities, bytes, tuples and numpy scalars and arrays,
        nested at will.

    Raises
    ------
    TypeError
        For a value that has no stored form, naming the attribute.
    """
    plain = {name: _plain(value, name) for name, value in attributes.items()}
    registered = plain.get(REGISTRY_KEY)
    if registered is not None and not isinstance(registered, list):
        raise TypeError(f"attribute {REGISTRY_KEY!r} is {registered!r}; Zarr keeps that name for a list")
    return BYTES.encode_all(NON_FINITE.encode_all(plain))


def decode_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as they were before they were stored: NaN, infinities and bytes are themselves again.

    Parameters
    ----------
    attributes : mapping
        Attributes of a group or array, as zarr returns them.

    Returns
    -------
    dict
        A copy, without the registrations that it undid. Attributes of a node that registers neither
        convention come back unchanged.
    """
    plain = {name: attributes[name] for name in attributes}
    return NON_FINITE.decode_all(BYTES.decode_all(plain))


def decode_non_finite(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Undo the Non-Finite Attributes convention alone, for readers that know bare NaN only."""
    return NON_FINITE.decode_all(attributes)


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist(), name)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, name) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if value is None or isinstance(value, str | bool | int | float | bytes):
        return value
    raise TypeError(f"attribute {name!r}: a value of type {type(value).__name__} has no form in JSON")
