"""The attributes of one object, each read once while the object is open.

What they become is decided when it is known which objects have a node (``attr_conversion``), and what the
section ``hdf5`` says of them when the document is there (``description``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5t

from ...hdf5_types.spaces import NULL, dims_of, space_to_json
from .inventory import address_of_committed
from .known_types import KnownType, known_type
from .object_names import decode_name
from .reasons import READ_ERRORS, CannotRepresentError, reading, why_unread

type ObjectID = h5g.GroupID | h5d.DatasetID | h5t.TypeID


@dataclass(slots=True)
class StoredAttribute:
    """One attribute.

    Attributes
    ----------
    name : bytes
        Its name.
    type : KnownType or None
        Its datatype; None when it could not even be opened.
    committed : int or None
        Address of the committed datatype that it has.
    space : dict
        Its dataspace as JSON.
    value
        As h5py reads it, text as bytes: an array, also of no axes, or `h5py.Empty`. Of object references
        the addresses, of opaque values bytes in nested lists.
    reason : str
        Why there is no value; empty when there is one.
    """

    name: bytes
    type: KnownType | None = None
    committed: int | None = None
    space: dict[str, Any] = field(default_factory=dict)
    value: Any = None
    reason: str = ""


@dataclass(slots=True)
class StoredAttributes:
    """All attributes of an object that could be found.

    Attributes
    ----------
    found : list of StoredAttribute
        In the order of their names.
    rest : str
        Why there may be more; empty when there are not.
    """

    found: list[StoredAttribute] = field(default_factory=list)
    rest: str = ""


def read_attributes(item: ObjectID) -> StoredAttributes:
    """Read all attributes of an open object; one that cannot be read costs the others nothing."""
    names: list[bytes] = []
    rest = ""
    try:
        with reading("the rest of its attributes"):
            h5a.iterate(item, names.append)
    except CannotRepresentError as error:
        rest = str(error)
    return StoredAttributes([_read(item, name) for name in sorted(names)], rest)


def _read(item: ObjectID, name: bytes) -> StoredAttribute:
    known: KnownType | None = None
    committed: int | None = None
    space: dict[str, Any] = {}
    try:
        attribute = h5a.open(item, name)
        tid, space = attribute.get_type(), space_to_json(attribute.get_space())
        known = known_type(tid)
        if tid.committed():
            committed = address_of_committed(tid)
        return StoredAttribute(name, known, committed, space, _value(item, attribute, known, space, name))
    except CannotRepresentError as error:
        reason = str(error)
    except READ_ERRORS as error:
        reason = why_unread(error)
    return StoredAttribute(name, known, committed, space, reason=reason)


def _value(
    item: ObjectID, attribute: h5a.AttrID, known: KnownType, space: dict[str, Any], name: bytes
) -> Any:
    if known.why_misread:
        raise CannotRepresentError(known.why_misread)
    if space is NULL:
        return h5py.Empty(known.shown)
    shape = dims_of(space)
    if known.is_object_reference:
        return _read_as(attribute, shape, np.dtype(np.uint64), h5t.STD_REF_OBJ)
    if known.type_class == h5t.OPAQUE:
        return _opaque(attribute, shape, known.tid)
    if known.shown.subdtype is not None:  # h5py knows how to make room for them
        return h5py.AttributeManager(SimpleNamespace(id=item))[decode_name(name)]
    return _read_as(attribute, shape, known.shown, known.shown_tid)


def _read_as(attribute: h5a.AttrID, shape: tuple[int, ...], dtype: np.dtype[Any], tid: h5t.TypeID) -> Any:
    values = np.zeros(shape, dtype)
    attribute.read(values, mtype=tid)
    return values


def _opaque(attribute: h5a.AttrID, shape: tuple[int, ...], tid: h5t.TypeID) -> Any:
    """Opaque values as bytes, read in their own type since HDF5 converts none with a tag."""
    return _bytes_of(_read_as(attribute, shape, np.dtype(f"V{tid.get_size()}"), tid).tolist())


def _bytes_of(values: Any) -> Any:
    return [_bytes_of(value) for value in values] if isinstance(values, list) else bytes(values)
