"""Plain values whose stored bytes cannot be read in place: read by h5py, held in the document.

Filters without a codec, numbers of reduced precision, virtual datasets, long doubles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .array_plan import ArrayPlan
from .dataset_values import DatasetValues, padded
from .dtypes import DType, NotInPlaceError, bytes_codec, type_name, zarr_data_type
from .fill_values import is_shown, json_fill
from .inline_budget import InlineBudget
from .reasons import CannotRepresentError, reading


def plan_copy(values: DatasetValues, budget: InlineBudget) -> ArrayPlan:
    """Numbers, booleans and opaque values as h5py reads them, little-endian.

    Raises
    ------
    CannotRepresentError
        When Zarr has no such type, a long double is no double, or there is no room.
    """
    shown = values.dtype
    base, axes = shown.subdtype if shown.subdtype is not None else (shown, ())
    target = target_dtype(base)
    budget.check(values.written_elements() * shown.itemsize)
    chunk_shape = (*values.chunk_shape, *axes)
    fill = np.zeros((), target) if axes else narrowed(_fill(values, base), target)
    plan = ArrayPlan(
        (*values.shape, *axes), chunk_shape, zarr_data_type(target), [bytes_codec(target)], json_fill(fill)
    )
    plan.attributes["_DTYPE"] = type_name(target)
    for region in values.regions():
        part = narrowed(values.read(region), target)
        place = (*region.coordinates, *(0,) * len(axes))
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


def narrowed(values: np.ndarray[Any, DType], target: DType) -> np.ndarray[Any, DType]:
    """Values in the type of the copy.

    Raises
    ------
    CannotRepresentError
        When a value would change.
    """
    if values.dtype.itemsize == target.itemsize:
        return np.asarray(values.astype(target))
    with np.errstate(over="ignore"):
        copied = values.astype(target)
    if not np.array_equal(copied.astype(values.dtype), values, equal_nan=True):
        raise CannotRepresentError(f"values of {values.dtype} that no {target.name} holds")
    return np.asarray(copied)


def _fill(values: DatasetValues, base: DType) -> np.ndarray[Any, DType]:
    if not is_shown(values.dataset.id.get_create_plist()):
        return np.zeros((), base)
    with reading("its fill value"):
        return np.asarray(values.dataset.fillvalue)
