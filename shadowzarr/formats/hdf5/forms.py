"""What an HDF5 datatype becomes: which of the few forms its values have in the document.

Datatypes only; whether plain values stay in the file is decided by ``datasets``.
"""

from __future__ import annotations

from typing import Literal

from h5py import h5t

from .dtypes import has_misread_sequences, has_overlapping_fields, has_sequences_of_regions
from .reasons import CannotRepresentError

Form = Literal["plain", "text", "reference", "table", "nested"]
"""Numbers and bytes; text; object references; a ``struct`` with text or references; everything else."""


def form_of(tid: h5t.TypeID) -> Form:
    """How values of a datatype are represented.

    Raises
    ------
    CannotRepresentError
        For times and references of HDF5 1.12, which h5py cannot read.
    """
    match tid.get_class():
        case h5t.STRING:
            return "text"
        case h5t.VLEN:
            return "nested"
        case h5t.REFERENCE:
            return _reference(tid)
        case h5t.TIME:
            raise CannotRepresentError("h5py cannot read times (H5T_TIME)")
        case h5t.ARRAY:
            base = form_of(tid.get_super())
            return "nested" if base == "table" else base
        case h5t.COMPOUND:
            return _compound(tid)
        case _:
            return "plain"


def _reference(tid: h5t.TypeID) -> Form:
    if tid.equal(h5t.STD_REF_OBJ):
        return "reference"
    if tid.equal(h5t.STD_REF_DSETREG):
        return "nested"
    raise CannotRepresentError("h5py cannot read references of HDF5 1.12 or later")


def _compound(tid: h5t.TypeCompoundID) -> Form:
    members = [tid.get_member_type(number) for number in range(tid.get_nmembers())]
    forms = {form_of(member) for member in members}
    if forms <= {"plain"}:
        return "plain"
    has_arrays = any(member.get_class() == h5t.ARRAY and form_of(member) != "plain" for member in members)
    return "nested" if has_arrays or "nested" in forms else "table"


def why_misread(tid: h5t.TypeID) -> str:
    """Why h5py must not be asked for values; empty when it may be."""
    if has_misread_sequences(tid):
        return "sequences of big-endian numbers, which h5py reads with their bytes swapped"
    if has_sequences_of_regions(tid):
        return "sequences of region references, which crash h5py"
    return "a compound with a field that h5py reads over the next one" if has_overlapping_fields(tid) else ""
