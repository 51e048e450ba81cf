"""HDF5 datatypes → JSON (HDF REST API, "Types"; HDF5 File Format, IV.A.2.d).

What the keys of that document cannot say is added as the bytes of ``H5Tencode``, so that the type can
always be made again; `types_from_json` is the other direction.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from h5py import h5t

from .names import name_to_text, path_to_text
from .type_names import (
    BITFIELDS,
    CHARACTER_SETS,
    CLASSES,
    COMMITTED,
    FLOATS,
    INTEGERS,
    NEW_REFERENCE,
    ORDERS,
    PADDINGS,
    REFERENCES,
    TIMES,
    VARIABLE,
)
from .types_from_json import type_from_json

CommittedPath = Callable[[h5t.TypeID], bytes | None]


def type_to_json(tid: h5t.TypeID, committed: CommittedPath | None = None) -> Any:
    """A datatype as JSON.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype.
    committed : callable, optional
        Gives the path of a committed type; None for one that has no path.

    Returns
    -------
    dict or str
        ``"datatypes/path"`` for a committed type that has a path.
    """
    if committed is not None and tid.committed():
        path = committed(tid)
        if path is not None:
            return COMMITTED + path_to_text(path)
    described = _describe(tid)
    if not _is_complete(described, tid):
        described["encoded"] = base64.b64encode(tid.copy().encode()).decode()
    return described


def _is_complete(described: dict[str, Any], tid: h5t.TypeID) -> bool:
    try:
        rebuilt = type_from_json(described)
    except (ValueError, KeyError, TypeError):
        return False
    return bool(rebuilt.equal(tid))


def _describe(tid: h5t.TypeID) -> dict[str, Any]:
    kind = tid.get_class()
    described: dict[str, Any] = {"class": CLASSES.get(kind, f"H5T_CLASS_{kind}")}
    match kind:
        case h5t.INTEGER:
            described |= _number(tid, INTEGERS)
        case h5t.FLOAT:
            described |= _number(tid, FLOATS)
        case h5t.BITFIELD:
            described |= _predefined(tid, BITFIELDS)
        case h5t.TIME:
            described |= _predefined(tid, TIMES)
        case h5t.STRING:
            described |= _string(tid)
        case h5t.REFERENCE:
            described |= _predefined(tid, REFERENCES)
            described.setdefault("base", NEW_REFERENCE)
        case h5t.OPAQUE:
            described |= {"size": tid.get_size(), "tag": name_to_text(tid.get_tag() or b"")}
        case h5t.ENUM:
            described |= {"base": type_to_json(tid.get_super()), "mapping": _mapping(tid)}
        case h5t.COMPOUND:
            described |= _compound(tid)
        case h5t.ARRAY:
            described |= {"base": type_to_json(tid.get_super()), "dims": list(tid.get_array_dims())}
        case h5t.VLEN | h5t.COMPLEX:
            described["base"] = type_to_json(tid.get_super())
        case _:
            described["size"] = tid.get_size()
    return described


def _predefined(tid: h5t.TypeID, names: Mapping[str, h5t.TypeID]) -> dict[str, Any]:
    for name, predefined in names.items():
        if tid.equal(predefined):
            return {"base": name}
    return {"size": tid.get_size()}


def _number(tid: h5t.TypeID, names: Mapping[str, h5t.TypeID]) -> dict[str, Any]:
    described = _predefined(tid, names)
    if "base" not in described:
        described["precision"] = tid.get_precision()
        described["order"] = ORDERS.get(tid.get_order(), "H5T_ORDER_NONE")
    return described


def _string(tid: h5t.TypeStringID) -> dict[str, Any]:
    return {
        "charSet": CHARACTER_SETS.get(tid.get_cset(), "H5T_CSET_UNKNOWN"),
        "strPad": PADDINGS.get(tid.get_strpad(), "H5T_STR_UNKNOWN"),
        "length": VARIABLE if tid.is_variable_str() else tid.get_size(),
    }


def _mapping(tid: h5t.TypeEnumID) -> dict[str, int]:
    # By its base type: HDF5 gives the values of members as the library's own integers.
    return {
        name_to_text(tid.get_member_name(number)): tid.get_member_value(number)
        for number in range(tid.get_nmembers())
    }


def _compound(tid: h5t.TypeCompoundID) -> dict[str, Any]:
    fields: list[dict[str, Any]] = []
    end = 0
    for number in range(tid.get_nmembers()):
        member, offset = tid.get_member_type(number), tid.get_member_offset(number)
        field = {"name": name_to_text(tid.get_member_name(number)), "type": type_to_json(member)}
        if offset != end:
            field["offset"] = offset
        fields.append(field)
        end = offset + member.get_size()
    described: dict[str, Any] = {"fields": fields}
    return described if end == tid.get_size() else {"size": tid.get_size(), **described}
