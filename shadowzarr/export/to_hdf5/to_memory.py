"""Values as zarr gives them → values of an HDF5 datatype in memory, the inverse of what a generator does.

Numbers get the file's byte order, text its length and padding, paths become addresses again, and a struct
becomes a compound. Numbers that numpy lacks are converted by HDF5.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from h5py import h5t

from ...hdf5_types.heap import allocate
from ...hdf5_types.memory import SEQUENCE, element_type, memory_form, plain_dtype
from ...hdf5_types.names import path_to_text
from ...hdf5_types.references import NULL, References
from ...hdf5_types.text import pad
from ...hdf5_types.type_names import PADDINGS

Values = np.ndarray[Any, np.dtype[Any]]


def to_memory(tid: h5t.TypeID, values: Values, references: References) -> Values:
    """Values of an array in memory, as `hdf5_types.memory` places them.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype to write.
    values : numpy.ndarray
        As zarr gives them; axes of an array datatype at the end.
    references : References
        The objects of the new file.

    Raises
    ------
    ValueError, TypeError
        When the values are not of this type.
    """
    base, _ = element_type(tid)
    match base.get_class():
        case h5t.STRING:
            return _text(base, values)
        case h5t.REFERENCE:
            return _addresses(base, values, references)
        case h5t.COMPOUND:
            return _compound(base, values, references)
        case h5t.VLEN:
            raise TypeError("sequences that are not in a group of their own")
        case _:
            return _numbers(base, values)


def sequences_to_memory(
    tid: h5t.TypeVlenID, offsets: Sequence[int], values: Values, references: References
) -> Values:
    """Sequences in memory, to be freed by `heap.release` where HDF5 copies them.

    Parameters
    ----------
    tid : h5py.h5t.TypeVlenID
        The datatype of the dataset.
    offsets : sequence of int
        Where each sequence begins in ``values``, and the end of the last.
    values : numpy.ndarray
        The items of all.
    references : References
        The objects of the new file.
    """
    items = np.ascontiguousarray(to_memory(tid.get_super(), values, references))
    data = items.tobytes()
    size = items.dtype.itemsize
    sequences = np.zeros(len(offsets) - 1, SEQUENCE)
    for number, (start, stop) in enumerate(itertools.pairwise(offsets)):
        if stop > start:
            sequences[number] = (stop - start, allocate(data[start * size : stop * size]))
    return sequences


def _text(tid: h5t.TypeStringID, values: Values) -> Values:
    items = [_encoded(item) for item in values.reshape(-1).tolist()]
    if tid.is_variable_str():
        texts = np.empty(len(items), object)
        texts[:] = items
        return texts.reshape(values.shape)
    length, padding = tid.get_size(), PADDINGS[tid.get_strpad()]
    data = b"".join(pad(item, length, padding) for item in items)
    return np.frombuffer(data, f"V{length}").reshape(values.shape)


def _encoded(item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode("utf-8", "surrogateescape")
    return bytes(item) if item is not None else b""


def _addresses(tid: h5t.TypeID, values: Values, references: References) -> Values:
    if not tid.equal(h5t.STD_REF_OBJ):
        raise TypeError("region references that the document does not describe")
    known: dict[str, int] = {NULL: 0}
    addresses = np.zeros(values.size, np.uint64)
    for number, path in enumerate(values.reshape(-1).tolist()):
        if path not in known:
            address = references.address(path_to_text(path.encode("utf-8", "surrogateescape")))
            if address is None:
                raise ValueError(f"a reference to {path}, which is not in the file")
            known[path] = address
        addresses[number] = known[path]
    return addresses.reshape(values.shape)


def _compound(tid: h5t.TypeCompoundID, values: Values, references: References) -> Values:
    rows = np.zeros(values.shape, memory_form(tid).dtype)
    columns = _columns(values)
    if len(columns) != tid.get_nmembers():
        raise ValueError(f"{len(columns)} fields for a compound of {tid.get_nmembers()}")
    for number, column in enumerate(columns):
        rows[f"f{number}"] = _member(tid.get_member_type(number), column, references)
    return rows


def _member(tid: h5t.TypeID, column: Values, references: References) -> Values:
    """One field of a compound; an array in it is a struct of its elements in C order."""
    base, axes = element_type(tid)
    if not axes or column.dtype.names is None:
        return to_memory(tid, column, references)
    elements = [to_memory(base, column[name], references) for name in column.dtype.names]
    return np.stack(elements, axis=-1).reshape(*column.shape, *axes)


def _columns(values: Values) -> list[Values]:
    if values.dtype.kind == "c":
        return [values.real, values.imag]
    return [values[name] for name in values.dtype.names or ()]


def _numbers(tid: h5t.TypeID, values: Values) -> Values:
    size, plain = tid.get_size(), plain_dtype(tid)
    if values.dtype.kind in "VMm":
        if values.dtype.itemsize != size:
            raise ValueError(f"values of {values.dtype.itemsize} bytes in a datatype of {size}")
        is_time = values.dtype.kind in "Mm"
        return _as_bytes(values.astype(values.dtype.newbyteorder("<")) if is_time else values, size)
    if plain is not None and plain.kind != "V":
        return _as_bytes(values.astype(plain), size)
    return _converted(tid, values)


def _as_bytes(values: Values, size: int) -> Values:
    return np.ascontiguousarray(values).view(f"V{size}").reshape(values.shape)


def _converted(tid: h5t.TypeID, values: Values) -> Values:
    """Numbers in a form that numpy lacks, as HDF5 converts them."""
    native = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))
    size, count = tid.get_size(), native.size
    buffer = np.zeros(max(1, count) * max(size, native.dtype.itemsize), np.uint8)
    buffer[: native.nbytes] = np.frombuffer(native.tobytes(), np.uint8)
    h5t.convert(h5t.py_create(native.dtype), tid.copy(), count, buffer)
    return np.frombuffer(buffer[: count * size].tobytes(), f"V{size}").reshape(values.shape)
