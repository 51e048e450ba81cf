"""Variable-length sequences in memory: the length and address that HDF5 reads and writes.

h5py converts sequences to arrays of numbers only, and not all of those (big-endian ones come out wrong),
so they are read and written in the form of HDF5's own C interface. Memory that HDF5 handed over is freed
here; memory for writing is taken from the C library, since HDF5 frees what it did not copy.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np
from h5py import h5t

from .memory import SEQUENCE, DType, element_type, sequence_dtype


@cache
def _library() -> Any:
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    return library


def allocate(data: bytes) -> int:
    """Address of a copy of some bytes, in memory of the C library."""
    address = _library().malloc(max(1, len(data)))
    if not address:
        raise MemoryError(f"no memory for a sequence of {len(data):,} bytes")
    ctypes.memmove(address, data, len(data))
    return int(address)


def bytes_at(address: int, nbytes: int) -> bytes:
    """Bytes of a sequence that HDF5 read."""
    return ctypes.string_at(address, nbytes) if address and nbytes else b""


def text_at(address: int) -> bytes:
    """Variable-length text inside a sequence: up to its NUL."""
    return ctypes.string_at(address) if address else b""


@cache
def writes_a_copy() -> bool:
    """Whether HDF5 copies sequences when it converts a type to itself, so that ours stay ours to free."""
    data = np.zeros(1, SEQUENCE)
    data["length"], data["address"] = 1, allocate(b"\0")
    before = int(data["address"][0])
    tid = h5t.vlen_create(h5t.STD_I8LE)
    h5t.convert(tid, tid, 1, data)
    after = int(data["address"][0])
    _library().free(before)
    if after != before:
        _library().free(after)
    return after != before


def release(tid: h5t.TypeID, values: np.ndarray[Any, DType]) -> None:
    """Free the memory of all sequences, and of text inside sequences.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The type of the values.
    values : numpy.ndarray
        As `memory.memory_form` places them, or `memory.sequence_dtype`.
    """
    base, _ = element_type(tid)
    match base.get_class():
        case h5t.VLEN:
            for length, address in values.reshape(-1).tolist():
                release_sequence(base.get_super(), length, address)
        case h5t.STRING if values.dtype.kind == "u":
            for address in values.reshape(-1).tolist():
                _free(address)
        case h5t.COMPOUND:
            for number in range(base.get_nmembers()):
                release(base.get_member_type(number), values[f"f{number}"])


def release_sequence(item: h5t.TypeID, length: int, address: int) -> None:
    """Free one sequence with what lies in it."""
    if address and length:
        release(item, sequence_values(item, length, address))
    _free(address)


def sequence_values(item: h5t.TypeID, length: int, address: int) -> np.ndarray[Any, DType]:
    """The items of a sequence in memory, a copy; text and sequences in them are still addresses."""
    dtype = sequence_dtype(item)
    data = bytes_at(address, length * dtype.itemsize)
    base, axes = dtype.subdtype if dtype.subdtype is not None else (dtype, ())
    return np.frombuffer(data, base).reshape(length if data or not length else 0, *axes)


def _free(address: int) -> None:
    if address:
        _library().free(address)
