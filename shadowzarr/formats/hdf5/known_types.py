"""HDF5 datatypes with what follows from them, worked out once for all objects that have the same one.

Types are the same when HDF5 writes them down in the same bytes (``H5Tencode``); which file they are from,
and whether they are committed there, makes no difference to anything here.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from typing import Any

from h5py import h5t

from ...hdf5_types.memory import element_type, has_heap, plain_dtype
from ...hdf5_types.types_to_json import type_to_json
from .dtypes import DType, stored_dtype
from .forms import Form, form_of, why_misread
from .reasons import READ_ERRORS

_MOST = 1024


class KnownType:
    """A datatype and what follows from it, each part when it is first asked for.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype.
    """

    def __init__(self, tid: h5t.TypeID) -> None:
        self.tid = tid.copy() if tid.committed() else tid
        self.type_class: int = tid.get_class()

    @cached_property
    def described(self) -> Any:
        """As JSON (``types_to_json``), which nobody changes."""
        return type_to_json(self.tid)

    @cached_property
    def form(self) -> Form:
        """As `forms.form_of` gives it, and raises."""
        return form_of(self.tid)

    @cached_property
    def stored(self) -> DType:
        """As `dtypes.stored_dtype` gives it, and raises."""
        return stored_dtype(self.tid)

    @cached_property
    def why_misread(self) -> str:
        """As `forms.why_misread` gives it."""
        return why_misread(self.tid)

    @cached_property
    def shown(self) -> DType:
        """The numpy data type as which h5py reads values.

        Raises
        ------
        TypeError, ValueError, KeyError
            When there is none.
        """
        dtype: DType = self.tid.dtype
        return dtype

    @cached_property
    def shown_tid(self) -> h5t.TypeID:
        """The datatype that HDF5 converts values to for that; raises as `shown`."""
        return h5t.py_create(self.shown)

    @cached_property
    def is_object_reference(self) -> bool:
        """Whether values are addresses of objects."""
        return bool(self.tid.equal(h5t.STD_REF_OBJ))

    @cached_property
    def has_heap(self) -> bool:
        """As `hdf5_types.memory.has_heap` says: whether values mean something outside themselves."""
        return has_heap(self.tid)

    @cached_property
    def may_lose_bits(self) -> bool:
        """Whether stored values may have bits that are not in what is read of them.

        That is so for NaNs of floating-point numbers that numpy lacks, and for NULs in text padded by spaces.
        """
        base, _ = element_type(self.tid)
        if base.get_class() == h5t.STRING:
            return bool(not base.is_variable_str() and base.get_strpad() == h5t.STR_SPACEPAD)
        return bool(base.get_class() == h5t.FLOAT and plain_dtype(base) is None)

    @cached_property
    def is_exact(self) -> bool:
        """Whether what h5py reads of values has all of their bits: text of variable length, numbers."""
        if self.type_class == h5t.STRING:
            return bool(self.tid.is_variable_str())
        plain = plain_dtype(self.tid) if self.type_class in (h5t.INTEGER, h5t.FLOAT) else None
        return plain is not None and plain == self.shown


_known: OrderedDict[bytes, KnownType] = OrderedDict()


def known_type(tid: h5t.TypeID) -> KnownType:
    """What is known of a datatype.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype, as an open object gives it.
    """
    try:
        key = tid.encode()
    except READ_ERRORS:  # who wants it described hears why HDF5 cannot write it down
        return KnownType(tid)
    found = _known.get(key)
    if found is None:
        found = _known[key] = KnownType(tid)
        while len(_known) > _MOST:
            _known.popitem(last=False)
    return found
