"""Fill values ↔ JSON, of every datatype, and undefined ones.

h5py converts a fill value to and from the numpy type it is given, knows none for references and cannot make
it undefined; so HDF5's own functions are used (`hdf5_library`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from h5py import h5d, h5p, h5t

from .hdf5_library import get_fill_value, set_fill_value
from .heap import release
from .memory import element_type, sequence_dtype
from .properties import UNDEFINED
from .references import References
from .values_from_json import fill_values
from .values_to_json import Values, values_to_json


def fill_to_json(tid: h5t.TypeID, properties: h5p.PropDCID, references: References) -> Any:
    """The fill value of a dataset; None when it is HDF5's own default.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        Datatype of the dataset.
    properties : h5py.h5p.PropDCID
        Its creation properties.
    references : References
        The objects of the file.

    Raises
    ------
    TypeError, ValueError
        When it has no form.
    """
    status = properties.fill_value_defined()
    if status == h5d.FILL_VALUE_UNDEFINED:
        return UNDEFINED
    if status != h5d.FILL_VALUE_USER_DEFINED:
        return None
    holder = _holder(tid)
    data = get_fill_value(properties, tid)
    values = np.frombuffer(data, holder.dtype).reshape(holder.shape).copy()
    try:
        return {"value": values_to_json(tid, values, references)}
    finally:
        release(tid, values)


def set_fill(tid: h5t.TypeID, properties: h5p.PropDCID, described: Any, references: References) -> None:
    """Set the fill value that `fill_to_json` described.

    Raises
    ------
    TypeError, ValueError, KeyError
        When it cannot be set.
    """
    if described is None:
        return
    if described == UNDEFINED:
        set_fill_value(properties, tid, None)
        return
    base, _ = element_type(tid)
    holder = _holder(tid)
    fill_values(base, holder, described["value"], references)
    try:
        set_fill_value(properties, tid, holder.tobytes())
    finally:
        release(tid, holder)


def _holder(tid: h5t.TypeID) -> Values:
    """Room for one value in the form of HDF5's C interface."""
    base, axes = element_type(tid)
    return np.zeros(axes, sequence_dtype(base))
