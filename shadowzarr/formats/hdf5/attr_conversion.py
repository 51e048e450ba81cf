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
from h5py import h5a, h5t

from .forms import refuse_misread
from .object_names import decode_name, encode_name, is_unicode
from .reasons import CannotRepresentError, reading
from .references import ReferenceResolver

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
    item: h5py.Group | h5py.Dataset | h5py.Datatype, resolver: ReferenceResolver, nodes: Set[str]
) -> ConvertedAttributes:
    """Read all attributes of an object; one that cannot be read costs the others nothing.

    Parameters
    ----------
    item : h5py.Group, h5py.Dataset or h5py.Datatype
        The object.
    resolver : ReferenceResolver
        Paths of references.
    nodes : set of str
        Absolute paths of the nodes in the document; a reference to anything else is left out, since
        hdmf-zarr fails a whole file on one that leads nowhere.
    """
    found = ConvertedAttributes()
    names: list[bytes] = []
    try:
        with reading("the rest of its attributes"):
            h5a.iterate(item.id, lambda name, *_: names.append(name))
    except CannotRepresentError as error:
        found.skipped.append(("*", str(error)))
    for name in sorted(names):
        text = decode_name(name)
        try:
            _check_name(text)
            found.values[text] = _resolved(item, text, resolver, nodes)
        except CannotRepresentError as error:
            found.skipped.append((text, str(error)))
    return found


def _resolved(item: Any, name: str, resolver: ReferenceResolver, nodes: Set[str]) -> Any:
    dangling = resolver.dangling
    value = _convert(item, name, resolver, nodes)
    if resolver.dangling != dangling:
        raise CannotRepresentError("it refers to an object that is gone, or that is left out")
    return value


def _check_name(name: str) -> None:
    if name in RESERVED:
        raise CannotRepresentError("its name is reserved by the convention")
    if not is_unicode(name):
        raise CannotRepresentError("its name is not UTF-8")


def _convert(item: Any, name: str, resolver: ReferenceResolver, nodes: Set[str]) -> Any:
    with reading():
        attribute = h5a.open(item.id, encode_name(name))
        tid = attribute.get_type()
        if attribute.shape is not None and tid.equal(h5t.STD_REF_OBJ):
            addresses = np.zeros(attribute.shape, np.uint64)
            attribute.read(addresses, mtype=h5t.STD_REF_OBJ)
            return _references(resolver.paths(addresses).tolist(), nodes)
        if tid.get_class() == h5t.OPAQUE and attribute.shape is not None:
            return _opaque(attribute, tid)
        refuse_misread(tid)
        value = _value(item, name, attribute)
    return to_json(value, resolver, nodes)


def _value(item: Any, name: str, attribute: h5a.AttrID) -> Any:
    """What h5py's attribute manager gives, text as bytes, without opening the attribute again."""
    shape, dtype = attribute.shape, attribute.dtype
    if shape is None or dtype.subdtype is not None:
        return item.attrs[name]
    values = np.zeros(shape, dtype)
    attribute.read(values, mtype=h5t.py_create(dtype))
    return values if values.ndim else values[()]


def _opaque(attribute: h5a.AttrID, tid: h5t.TypeID) -> Any:
    """Opaque values as bytes, read in their own type since HDF5 converts none with a tag."""
    values = np.zeros(attribute.shape, f"V{tid.get_size()}")
    attribute.read(values, mtype=tid)
    return _bytes_of(values.tolist())


def _bytes_of(values: Any) -> Any:
    return [_bytes_of(value) for value in values] if isinstance(values, list) else bytes(values)


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
    if isinstance(value, h5py.Empty):
        return None
    if isinstance(value, h5py.RegionReference):
        return _region(value, resolver, nodes)
    if isinstance(value, h5py.Reference):
        return _references(resolver.path_of(value), nodes)
    if isinstance(value, str):
        return _text(value.encode("utf-8", "surrogateescape"))
    if isinstance(value, bytes):
        return _text(bytes(value))
    if isinstance(value, np.ndarray):
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
