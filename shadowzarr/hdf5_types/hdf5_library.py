"""The few functions of HDF5's C library that h5py lacks or cannot use for every datatype.

They are looked up through one of h5py's own modules, which is linked to the library that h5py uses. Where
that does not work (Windows), there are none, and what needs them is named as not possible.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from h5py import h5p, h5t
from h5py._objects import phil

_EDGES_UNFILTERED = 0x0002


@cache
def _functions() -> tuple[Any, Any] | None:
    try:
        library = ctypes.CDLL(h5p.__file__)
        found = library.H5Pget_fill_value, library.H5Pset_fill_value
    except (OSError, AttributeError):
        return None
    for function in found:
        function.argtypes, function.restype = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p], ctypes.c_int
    return found


@cache
def _get_chunk_options() -> Any:
    try:
        function = ctypes.CDLL(h5p.__file__).H5Pget_chunk_opts
    except (OSError, AttributeError):
        return None
    function.argtypes, function.restype = [ctypes.c_int64, ctypes.POINTER(ctypes.c_uint)], ctypes.c_int
    return function


def get_fill_value(properties: h5p.PropDCID, tid: h5t.TypeID) -> bytes:
    """A fill value in a datatype, as the C library gives it.

    Raises
    ------
    TypeError
        When HDF5 cannot give it.
    """
    holder = ctypes.create_string_buffer(max(1, tid.get_size()))
    _call(0, properties, tid, ctypes.addressof(holder))
    return holder.raw[: tid.get_size()]


def set_fill_value(properties: h5p.PropDCID, tid: h5t.TypeID, data: bytes | None) -> None:
    """Set a fill value, or say that there is none.

    Parameters
    ----------
    properties : h5py.h5p.PropDCID
        The creation property list.
    tid : h5py.h5t.TypeID
        The datatype of the value.
    data : bytes or None
        The value as it lies in memory, addresses in it included; None for an undefined fill value.

    Raises
    ------
    TypeError
        When HDF5 cannot set it.
    """
    holder = ctypes.create_string_buffer(data, len(data)) if data is not None else None
    _call(1, properties, tid, None if holder is None else ctypes.addressof(holder))


def leaves_edges_unfiltered(properties: h5p.PropDCID) -> bool:
    """Whether the chunks that reach past the data are stored without their filters.

    HDF5 says so of the dataset (``H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS``) and not in their filter masks.
    """
    function = _get_chunk_options()
    if function is None:
        return False
    options = ctypes.c_uint(0)
    with phil:
        is_known = function(properties.id, ctypes.byref(options)) >= 0
    return bool(is_known and options.value & _EDGES_UNFILTERED)


def _call(which: int, properties: h5p.PropDCID, tid: h5t.TypeID, address: int | None) -> None:
    functions = _functions()
    if functions is None:
        raise TypeError("h5py cannot handle this fill value, and HDF5's own library was not found")
    with phil:
        if functions[which](properties.id, tid.id, address) < 0:
            raise TypeError("HDF5 cannot handle this fill value")
