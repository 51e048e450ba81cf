"""Values of attributes and datasets as JSON, read without converting a bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5s, h5t

from ....hdf5_types.heap import release
from ....hdf5_types.memory import element_type, memory_form
from ....hdf5_types.references import References
from ....hdf5_types.values_to_json import values_to_json
from ..reasons import CannotRepresentError, reading


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
    return _values(
        tid, shape, references, lambda values, memory: dataset.read(h5s.ALL, h5s.ALL, values, memory)
    )


def _values(tid: h5t.TypeID, shape: tuple[int, ...], references: References, read: Any) -> Any:
    with reading():
        form, (base, axes) = memory_form(tid), element_type(tid)
        values = np.zeros((*shape, *axes), memory_form(base).dtype)
        read(values, form.tid)
        try:
            return values_to_json(tid, values, references)
        finally:
            release(base, values)
