"""Plain values whose stored bytes cannot be read in place: read by h5py, held in the document.

Filters without a codec, numbers of reduced precision, virtual datasets, long doubles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .array_plan import ArrayPlan
from .dataset_values import DatasetValues, padded
from .dtypes import DType, NotInPlaceError, bytes_codec, check_parts, flattened, struct_marks, zarr_data_type
from .fill_values import bits_that_zarr_loses, json_fill, stored_fill
from .inline_budget import InlineBudget
from .reasons import CannotRepresentError


def plan_copy(values: DatasetValues, budget: InlineBudget) -> ArrayPlan:
    """Numbers, booleans, opaque values and compounds of them as h5py reads them, little-endian.

    Raises
    ------
    CannotRepresentError
        When Zarr has no such type, a long double is no double, or there is no room.
    NotInPlaceError
        For a compound of too many parts to be a ``struct``.
    """
    shown = values.dtype
    target = packed_dtype(shown.base)
    check_parts(target)
    budget.check(values.written_elements() * shown.itemsize)
    fill = narrowed(stored_fill(values.properties, shown), target)
    chunk_shape = (*values.chunk_shape, *shown.shape)
    plan = ArrayPlan(
        (*values.shape, *shown.shape),
        chunk_shape,
        zarr_data_type(target),
        [bytes_codec(target)],
        json_fill(fill),
        struct_marks(target),
        lost_fill=bits_that_zarr_loses(fill),
    )
    for region in values.regions():
        part = narrowed(values.read(region), target)
        place = (*region.coordinates, *(0,) * len(shown.shape))
        plan.inline[place] = padded(part, chunk_shape, fill).tobytes()
    budget.charge(list(plan.inline.values()))
    return plan


def target_dtype(base: DType) -> DType:
    """The data type of a copy of values that h5py reads as ``base``.

    Raises
    ------
    CannotRepresentError
        When Zarr has no such type.
    """
    if base.kind in "fc" and base.itemsize > (8 if base.kind == "f" else 16):
        return np.dtype("<f8" if base.kind == "f" else "<c16")
    if base.hasobject or base.names is not None:
        raise CannotRepresentError(f"Zarr has no data type for {base}")
    target = np.dtype(base.str).newbyteorder("<")
    try:
        zarr_data_type(target)
    except NotInPlaceError as error:
        raise CannotRepresentError(str(error)) from error
    return target


def packed_dtype(shown: DType) -> DType:
    """The data type of a copy, also for compounds and arrays inside them: little-endian, without gaps.

    Raises
    ------
    CannotRepresentError
        When Zarr has no such type.
    """
    shown = flattened(shown)
    if shown.subdtype is not None:
        return np.dtype((packed_dtype(shown.base), shown.shape))
    if shown.names is not None:
        return np.dtype([(name, packed_dtype(shown[name])) for name in shown.names])
    return target_dtype(shown)


def narrowed(values: np.ndarray[Any, DType], target: DType) -> np.ndarray[Any, DType]:
    """Values in the type of the copy.

    Parameters
    ----------
    values : numpy.ndarray
        As h5py gives them.
    target : numpy.dtype
        As `target_dtype` or `packed_dtype` gives it; axes of a subarray are the last of the values.

    Raises
    ------
    CannotRepresentError
        When a value would change.
    """
    target = target.base
    if target.names is not None:
        copy = np.zeros(values.shape, target)
        for name in target.names:
            copy[name] = narrowed(values[name], target[name])
        return copy
    if values.dtype.itemsize == target.itemsize:
        return np.asarray(values.astype(target))
    with np.errstate(over="ignore"):
        copied = values.astype(target)
    if not np.array_equal(copied.astype(values.dtype), values, equal_nan=True):
        raise CannotRepresentError(f"values of {values.dtype} that no {target.name} holds")
    return np.asarray(copied)
