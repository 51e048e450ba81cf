"""HDF5 datatypes as they lie in memory, so that reading and writing change no bit.

Every part that HDF5 stores as it stands has its file's own type in memory too, so that nothing is
converted. Variable-length text is handed over as Python bytes, region references as h5py's objects, and
sequences as the length and address that HDF5 gives (`heap`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from h5py import h5t

from .type_names import PREDEFINED

DType = np.dtype[Any]

SEQUENCE = np.dtype([("length", np.uintp), ("address", np.uintp)])
"""A variable-length sequence in memory (``hvl_t``)."""

_TEXT = np.dtype("O", metadata={"vlen": bytes})


@dataclass(frozen=True, slots=True)
class MemoryForm:
    """A datatype in memory.

    Attributes
    ----------
    tid : h5py.h5t.TypeID
        What HDF5 is told.
    dtype : numpy.dtype
        What holds it; fields are named ``f0``, ``f1`` and so on.
    """

    tid: h5t.TypeID
    dtype: DType


def memory_form(tid: h5t.TypeID) -> MemoryForm:
    """How values of a datatype lie in memory.

    Raises
    ------
    TypeError
        For references of HDF5 1.12, which h5py cannot handle.
    """
    match tid.get_class():
        case h5t.COMPOUND:
            return _compound(tid)
        case h5t.ARRAY:
            base, axes = memory_form(tid.get_super()), tid.get_array_dims()
            return MemoryForm(h5t.array_create(base.tid, axes), np.dtype((base.dtype, axes)))
        case h5t.VLEN:
            return MemoryForm(tid.copy(), SEQUENCE)
        case h5t.STRING if tid.is_variable_str():
            return MemoryForm(h5t.py_create(_TEXT), _TEXT)
        case h5t.REFERENCE:
            return _reference(tid)
        case _:
            return MemoryForm(tid.copy(), np.dtype(f"V{tid.get_size()}"))


def _compound(tid: h5t.TypeCompoundID) -> MemoryForm:
    numbers = range(tid.get_nmembers())
    members = [memory_form(tid.get_member_type(number)) for number in numbers]
    sizes = [member.tid.get_size() for member in members]
    offsets = [sum(sizes[:number]) for number in numbers]
    memory = h5t.create(h5t.COMPOUND, max(1, sum(sizes)))
    for number in numbers:
        memory.insert(tid.get_member_name(number), offsets[number], members[number].tid)
    layout: Any = {
        "names": [f"f{number}" for number in numbers],
        "formats": [member.dtype for member in members],
        "offsets": offsets,
        "itemsize": max(1, sum(sizes)),
    }
    return MemoryForm(memory, np.dtype(layout))


def _reference(tid: h5t.TypeID) -> MemoryForm:
    if tid.equal(h5t.STD_REF_OBJ):
        return MemoryForm(h5t.STD_REF_OBJ, np.dtype("u8"))
    if tid.equal(h5t.STD_REF_DSETREG):
        return MemoryForm(h5t.py_create(h5py.regionref_dtype), h5py.regionref_dtype)
    raise TypeError("references of HDF5 1.12 or later, which h5py cannot read")


def sequence_dtype(tid: h5t.TypeID) -> DType:
    """How items of a type lie inside a sequence: as in the file, with addresses of text and sequences.

    Raises
    ------
    TypeError
        For region references and references of HDF5 1.12, which mean nothing there.
    """
    match tid.get_class():
        case h5t.COMPOUND:
            numbers = range(tid.get_nmembers())
            layout: Any = {
                "names": [f"f{number}" for number in numbers],
                "formats": [sequence_dtype(tid.get_member_type(number)) for number in numbers],
                "offsets": [tid.get_member_offset(number) for number in numbers],
                "itemsize": tid.get_size(),
            }
            packed: DType = np.dtype(layout)
            return packed
        case h5t.ARRAY:
            return np.dtype((sequence_dtype(tid.get_super()), tid.get_array_dims()))
        case h5t.VLEN:
            return SEQUENCE
        case h5t.STRING if tid.is_variable_str():
            return np.dtype(np.uintp)
        case h5t.REFERENCE:
            if tid.equal(h5t.STD_REF_OBJ):
                return np.dtype("u8")
            raise TypeError("region references inside sequences")
        case _:
            return np.dtype(f"V{tid.get_size()}")


def has_heap(tid: h5t.TypeID) -> bool:
    """Whether values mean something outside themselves: text of any length, sequences, references."""
    match tid.get_class():
        case h5t.COMPOUND:
            return any(has_heap(tid.get_member_type(number)) for number in range(tid.get_nmembers()))
        case h5t.ARRAY:
            return has_heap(tid.get_super())
        case h5t.STRING:
            return bool(tid.is_variable_str())
        case kind:
            return kind in (h5t.VLEN, h5t.REFERENCE)


def element_type(tid: h5t.TypeID) -> tuple[h5t.TypeID, tuple[int, ...]]:
    """The type below array datatypes, and all their axes."""
    axes: tuple[int, ...] = ()
    while tid.get_class() == h5t.ARRAY:
        axes += tuple(tid.get_array_dims())
        tid = tid.get_super()
    return tid, axes


def plain_dtype(tid: h5t.TypeID) -> DType | None:
    """The numpy data type whose memory is the stored bytes; None when numpy has none."""
    size = tid.get_size()
    match tid.get_class():
        case h5t.INTEGER | h5t.FLOAT | h5t.BITFIELD:
            name = next((name for name, known in PREDEFINED.items() if tid.equal(known)), None)
            return None if name is None else _numpy(name, size)
        case h5t.ENUM:
            return plain_dtype(tid.get_super())
        case h5t.COMPLEX:
            part = plain_dtype(tid.get_super())
            is_usual = part is not None and part.kind == "f" and part.itemsize in (4, 8)
            return np.dtype(f"{part.byteorder}c{size}") if is_usual and part is not None else None
        case h5t.OPAQUE:
            return np.dtype(f"V{size}")
        case _:
            return None


def _numpy(name: str, size: int) -> DType:
    kind = "f" if "IEEE" in name else "i" if name.startswith("H5T_STD_I") else "u"
    return np.dtype(f"{'>' if name.endswith('BE') else '<'}{kind}{size}")
