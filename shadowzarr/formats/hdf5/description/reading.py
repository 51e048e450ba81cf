"""Values of attributes and datasets as JSON, read without converting a bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5s, h5t

from ....hdf5_types.heap import release
from ....hdf5_types.memory import element_type, memory_form
from ....hdf5_types.references import References
from ....hdf5_types.spaces import dims_of
from ....hdf5_types.values_to_json import values_to_json
from ..reasons import CannotRepresentError, reading
from ..stored_attributes import StoredAttribute
from ..whole_chunks import check_stored

MOST_BYTES = 256 * 2**20
"""Bytes of memory that values of one object may need, whatever its header says."""

CHECKED_BYTES = 2**20
"""Bytes up to which values are read again to see whether they come back as they are."""


def exact_values(attribute: StoredAttribute, references: References) -> Any:
    """All values of an attribute of which h5py reads the bits (`KnownType.is_exact`).

    Raises
    ------
    CannotRepresentError
        When they could not be read.
    """
    known = attribute.type
    assert known is not None  # noqa: S101 - it is that of exact values
    _check_size(dims_of(attribute.space), known.shown)
    if attribute.reason:
        raise CannotRepresentError(attribute.reason)
    with reading():
        return values_to_json(known.tid, attribute.value, references)


def attribute_values(attribute: h5a.AttrID, tid: h5t.TypeID, references: References) -> Any:
    """All values of an attribute.

    Raises
    ------
    CannotRepresentError
        When they cannot be read.
    """
    return _values(
        tid, tuple(attribute.shape), references, lambda values, memory: attribute.read(values, mtype=memory)
    )


def dataset_values(dataset: h5d.DatasetID, references: References, *, most_bytes: int) -> Any:
    """All values of a dataset.

    Raises
    ------
    CannotRepresentError
        When they cannot be read, or are more than ``most_bytes`` in memory.
    """
    with reading():
        tid, shape = dataset.get_type(), tuple(dataset.shape)
    nbytes = math.prod(shape) * tid.get_size()
    if nbytes > most_bytes:
        raise CannotRepresentError(f"values of {nbytes:,} bytes, more than the section holds")
    check_stored(dataset)
    return _values(
        tid, shape, references, lambda values, memory: dataset.read(h5s.ALL, h5s.ALL, values, memory)
    )


def _values(tid: h5t.TypeID, shape: tuple[int, ...], references: References, read: Any) -> Any:
    with reading():
        form, (base, axes) = memory_form(tid), element_type(tid)
        _check_size(shape, form.dtype, axes)
        values = np.zeros((*shape, *axes), memory_form(base).dtype)
        read(values, form.tid)
        try:
            return values_to_json(tid, values, references)
        finally:
            release(base, values)


def _check_size(shape: tuple[int, ...], dtype: np.dtype[Any], axes: tuple[int, ...] = ()) -> None:
    if math.prod((*shape, *axes)) * dtype.itemsize > MOST_BYTES:
        raise CannotRepresentError(f"values of shape {shape}, which is more than is read")


def loses_bits(dataset: h5d.DatasetID, tid: h5t.TypeID) -> bool:
    """Whether values of a datatype that `KnownType.may_lose_bits` come back with other bits; of few ones."""
    base, axes = element_type(tid)
    is_padded = base.get_class() == h5t.STRING
    shape = (*dataset.shape, *axes)
    if math.prod(shape) * base.get_size() > CHECKED_BYTES:
        return False
    try:
        check_stored(dataset)
        with reading():
            form = memory_form(tid) if is_padded else None
            dtype = form.dtype if form else np.dtype(np.longdouble)
            values = np.zeros(shape, dtype.subdtype[0] if dtype.subdtype else dtype)
            dataset.read(h5s.ALL, h5s.ALL, values, form.tid if form else _wide(axes))
    except CannotRepresentError:
        return False
    return b"\0" in values.tobytes() if is_padded else bool(np.isnan(values).any())


def _wide(axes: tuple[int, ...]) -> h5t.TypeID:
    return h5t.array_create(h5t.NATIVE_LDOUBLE, axes) if axes else h5t.NATIVE_LDOUBLE
