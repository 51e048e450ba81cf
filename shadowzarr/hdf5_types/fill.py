"""Fill values ↔ JSON, as far as h5py can get and set them.

h5py converts a fill value to and from the numpy type it is given, so that only types that numpy shares with
the file come through unchanged; the others are refused.
"""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
from h5py import h5p, h5t

from .memory import DType, element_type, plain_dtype
from .references import NULL, References
from .text import bytes_to_json, json_to_bytes, pad, text_to_json, unpad
from .type_names import PADDINGS

_ASCII_TEXT = h5py.string_dtype("ascii")
_UTF8_TEXT = h5py.string_dtype("utf-8")


def fill_to_json(tid: h5t.TypeID, properties: h5p.PropDCID, references: References) -> Any:
    """A fill value of the user's; text as text, everything else as its bytes.

    Raises
    ------
    TypeError
        When h5py cannot give it.
    """
    if tid.get_class() == h5t.STRING:
        return _text_to_json(tid, properties)
    if tid.equal(h5t.STD_REF_OBJ):
        return _reference_to_json(properties, references)
    holder = np.zeros((), shared_dtype(tid))
    properties.get_fill_value(holder)
    return bytes_to_json(holder.tobytes())


def _text_to_json(tid: h5t.TypeStringID, properties: h5p.PropDCID) -> str:
    if tid.is_variable_str():
        held = np.zeros((), _UTF8_TEXT if tid.get_cset() == h5t.CSET_UTF8 else _ASCII_TEXT)
        properties.get_fill_value(held)
        found = held.item()
        return text_to_json(found if isinstance(found, bytes) else str(found or "").encode())
    text = np.zeros((), f"S{tid.get_size()}")
    properties.get_fill_value(text)
    return text_to_json(unpad(text.tobytes(), PADDINGS[h5t.STR_NULLPAD]))


def _reference_to_json(properties: h5p.PropDCID, references: References) -> Any:
    held = np.zeros((), h5py.ref_dtype)
    properties.get_fill_value(held)
    return references.target(held.item()) if held.item() else NULL


def set_fill(tid: h5t.TypeID, properties: h5p.PropDCID, described: Any) -> None:
    """Set the fill value that `fill_to_json` described.

    Raises
    ------
    TypeError, ValueError
        When h5py cannot set it.
    """
    if tid.equal(h5t.STD_REF_OBJ):
        raise TypeError("h5py cannot set a fill value that is a reference")
    data = json_to_bytes(described)
    if tid.get_class() == h5t.STRING:
        if tid.is_variable_str():
            text = np.zeros((), _UTF8_TEXT if tid.get_cset() == h5t.CSET_UTF8 else _ASCII_TEXT)
            text[()] = data
        else:
            text = np.array(pad(data, tid.get_size(), PADDINGS[h5t.STR_NULLPAD]), f"S{tid.get_size()}")
        properties.set_fill_value(text)
        return
    properties.set_fill_value(np.frombuffer(data, shared_dtype(tid))[:1].reshape(()).copy())


def shared_dtype(tid: h5t.TypeID) -> DType:
    """The numpy type by which h5py can get and set a fill value without changing it.

    Raises
    ------
    TypeError
        When there is none.
    """
    shown: DType = tid.dtype
    if shown.subdtype is not None or not _is_exact(tid):
        raise TypeError(f"h5py has no fill values of {shown}")
    return shown


def _is_exact(tid: h5t.TypeID) -> bool:
    """Whether numpy's type holds every value of the datatype, and HDF5 converts it both ways."""
    base, _ = element_type(tid)
    match base.get_class():
        case h5t.COMPOUND:
            return all(_is_exact(base.get_member_type(number)) for number in range(base.get_nmembers()))
        case h5t.INTEGER | h5t.FLOAT:
            return True
        case h5t.STRING:
            return not base.is_variable_str()
        case _:
            return plain_dtype(base) is not None
