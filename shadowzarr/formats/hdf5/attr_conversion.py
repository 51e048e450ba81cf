"""HDF5 attributes → values that the document can hold.

Numbers, booleans, text, bytes, lists of them, objects for compounds, ``{"_REFERENCE": …}`` for object
references and null for a null dataspace. NaN, infinities and bytes stay themselves here; the builder
encodes them by the two attribute conventions.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np

from ...hdf5_types.spaces import NULL
from .object_names import decode_name, is_unicode
from .reasons import CannotRepresentError
from .references import ReferenceResolver
from .stored_attributes import StoredAttribute, StoredAttributes

RESERVED = frozenset(
    {
        "_DTYPE",
        "_LINKS",
        "_REFERENCE_FIELDS",
        "_ARRAY_FIELDS",
        "_RAGGED",
        "_COLUMNS",
        "_NULL_DATASPACE",
        "zarr_conventions",
    }
)
"""Names that the convention uses for itself."""

_DOUBLE = 8  # bytes


@dataclass(slots=True)
class ConvertedAttributes:
    """The attributes of one object.

    Attributes
    ----------
    values : dict
        By name, in the order of names.
    skipped : list of (str, str)
        Names and reasons of those that are left out.
    """

    values: dict[str, Any] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def convert_attributes(
    stored: StoredAttributes, resolver: ReferenceResolver, nodes: Set[str]
) -> ConvertedAttributes:
    """Convert the attributes of an object.

    Parameters
    ----------
    stored : StoredAttributes
        What was read.
    resolver : ReferenceResolver
        Paths of references.
    nodes : set of str
        Absolute paths of the nodes in the document; a reference to anything else is left out, since
        hdmf-zarr fails a whole file on one that leads nowhere.
    """
    found = ConvertedAttributes()
    if stored.rest:
        found.skipped.append(("*", stored.rest))
    for attribute in stored.found:
        name = decode_name(attribute.name)
        try:
            _check_name(name)
            found.values[name] = _resolved(attribute, resolver, nodes)
        except CannotRepresentError as error:
            found.skipped.append((name, str(error)))
    return found


def _check_name(name: str) -> None:
    if name in RESERVED:
        raise CannotRepresentError("its name is reserved by the convention")
    if not is_unicode(name):
        raise CannotRepresentError("its name is not UTF-8")


def _resolved(attribute: StoredAttribute, resolver: ReferenceResolver, nodes: Set[str]) -> Any:
    if attribute.reason:
        raise CannotRepresentError(attribute.reason)
    dangling = resolver.dangling
    if isinstance(attribute.value, bytes | list):  # opaque
        return attribute.value
    if attribute.type is not None and attribute.type.is_object_reference and attribute.space is not NULL:
        value = _references(resolver.paths(attribute.value).tolist(), nodes)
    else:
        value = to_json(attribute.value, resolver, nodes)
    if resolver.dangling != dangling:
        raise CannotRepresentError("it refers to an object that is gone, or that is left out")
    return value


def _references(paths: Any, nodes: Set[str]) -> Any:
    if isinstance(paths, list):
        return [_references(path, nodes) for path in paths]
    if not paths:
        return ""
    if paths not in nodes:
        raise CannotRepresentError(f"it refers to {paths}, which is left out")
    return {"_REFERENCE": {"source": ".", "path": paths}}


def _region(reference: Any, resolver: ReferenceResolver, nodes: Set[str]) -> Any:
    described = resolver.region_of(reference)
    if described is None:
        return ""
    found = _references(described.pop("id"), nodes)
    found["_REFERENCE"]["region"] = described
    return found


def to_json(value: Any, resolver: ReferenceResolver, nodes: Set[str]) -> Any:
    """A value as h5py gives it → one that the document can hold.

    Parameters
    ----------
    value
        A Python or numpy scalar, an array, `h5py.Empty` or a reference.
    resolver : ReferenceResolver
        Paths of references.
    nodes : set of str
        Absolute paths of the nodes in the document.

    Raises
    ------
    CannotRepresentError
        For values that have no form.
    """
    if isinstance(value, bytes):
        return _text(bytes(value))
    if isinstance(value, str):
        return _text(value.encode("utf-8", "surrogateescape"))
    if isinstance(value, h5py.Empty):
        return None
    if isinstance(value, h5py.RegionReference):
        return _region(value, resolver, nodes)
    if isinstance(value, h5py.Reference):
        return _references(resolver.path_of(value), nodes)
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= _DOUBLE:
            return value.tolist()
        if value.ndim:
            return [to_json(part, resolver, nodes) for part in value]
        return to_json(value[()], resolver, nodes)
    if isinstance(value, np.void):
        if value.dtype.names is None:
            return value.tobytes()
        return {name: to_json(value[name], resolver, nodes) for name in value.dtype.names}
    return _number(value)


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def _number(value: Any) -> Any:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value.tobytes()
    if isinstance(value, np.complexfloating):
        return [_number(value.real), _number(value.imag)]
    if isinstance(value, np.longdouble) and np.isfinite(value) and np.longdouble(float(value)) != value:
        raise CannotRepresentError("a long double that no double holds")
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if value is None or isinstance(value, bool | int | float):
        return value
    raise CannotRepresentError(f"no form for values of {type(value).__name__}")
