"""JSON → HDF5 datatypes: what `types_to_json` wrote, and what the HDF REST document shows."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from h5py import h5t

from .names import text_to_name, text_to_path
from .type_names import CHARACTER_SETS, COMMITTED, PADDINGS, PREDEFINED, VARIABLE

OpenCommitted = Callable[[bytes], h5t.TypeID]

_CHARACTER_SETS = {name: value for value, name in CHARACTER_SETS.items()}
_PADDINGS = {name: value for value, name in PADDINGS.items()}


def type_from_json(described: Any, committed: OpenCommitted | None = None) -> h5t.TypeID:
    """The datatype that JSON describes.

    Parameters
    ----------
    described : dict or str
        From `types_to_json.type_to_json`, or the name of a predefined type.
    committed : callable, optional
        Gives the committed type at a path.

    Raises
    ------
    ValueError, KeyError, TypeError
        When it describes no type.
    """
    if isinstance(described, str):
        return _named(described, committed)
    if "encoded" in described:
        return h5t.decode(base64.b64decode(described["encoded"]))
    match described["class"]:
        case "H5T_STRING":
            return _string(described)
        case "H5T_OPAQUE":
            tid = h5t.create(h5t.OPAQUE, int(described["size"]))
            tid.set_tag(text_to_name(described.get("tag", "")))
            return tid
        case "H5T_ENUM":
            return _enum(described)
        case "H5T_COMPOUND":
            return _compound(described)
        case "H5T_ARRAY":
            return h5t.array_create(type_from_json(described["base"]), tuple(described["dims"]))
        case "H5T_VLEN":
            return h5t.vlen_create(type_from_json(described["base"]))
        case "H5T_COMPLEX":
            return _complex(described)
        case _:
            return _named(described["base"], None)


def _named(name: str, committed: OpenCommitted | None) -> h5t.TypeID:
    if name in PREDEFINED:
        return PREDEFINED[name].copy()
    if committed is not None and name.startswith(f"{COMMITTED}/"):
        return committed(text_to_path(name.removeprefix(COMMITTED)))
    raise ValueError(f"{name!r} is no predefined type")


def _string(described: dict[str, Any]) -> h5t.TypeID:
    tid = h5t.C_S1.copy()
    length = described["length"]
    tid.set_size(h5t.VARIABLE if length == VARIABLE else int(length))
    tid.set_cset(_CHARACTER_SETS[described["charSet"]])
    tid.set_strpad(_PADDINGS[described["strPad"]])
    return tid


def _enum(described: dict[str, Any]) -> h5t.TypeID:
    tid = h5t.enum_create(type_from_json(described["base"]))
    for name, value in described["mapping"].items():
        tid.enum_insert(text_to_name(name), value)
    return tid


def _compound(described: dict[str, Any]) -> h5t.TypeID:
    placed: list[tuple[bytes, int, h5t.TypeID]] = []
    end = 0
    for field in described["fields"]:
        member = type_from_json(field["type"])
        offset = int(field.get("offset", end))
        placed.append((text_to_name(field["name"]), offset, member))
        end = offset + member.get_size()
    tid = h5t.create(h5t.COMPOUND, int(described.get("size", end)))
    for name, offset, member in placed:
        tid.insert(name, offset, member)
    return tid


def _complex(described: dict[str, Any]) -> h5t.TypeID:
    base = type_from_json(described["base"])
    order = "BE" if base.get_order() == h5t.ORDER_BE else "LE"
    known = getattr(h5t, f"COMPLEX_IEEE_F{8 * base.get_size()}{order}", None)
    if known is None or not known.get_super().equal(base):
        raise ValueError("a complex number of parts that are not IEEE 754")
    tid: h5t.TypeID = known.copy()
    return tid
