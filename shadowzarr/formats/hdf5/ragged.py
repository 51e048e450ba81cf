"""Variable-length sequences → a group of ``values`` and ``offsets``.

Item i of the dataset, counted in C order, is ``values[offsets[i]:offsets[i + 1]]``. The group carries
the dataset's attributes and is marked by ``_RAGGED``, an object with the dataset's ``shape``.
"""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
from numcodecs import VLenUTF8

from .array_plan import ArrayPlan, GroupPlan
from .copies import narrowed, target_dtype
from .dataset_values import TARGET_BYTES, DatasetValues, padded
from .dtypes import DType, bytes_codec, has_misread_sequences, type_name, zarr_data_type
from .fill_values import json_fill
from .h5_chunk_utils import inline_chunk_shape
from .heap_values import TEXT_CODEC, note_dangling
from .inline_budget import InlineBudget
from .reasons import CannotRepresentError
from .references import ReferenceResolver

MARKER = "_RAGGED"
"""Attribute of the group that a dataset of sequences becomes."""

_POINTER_BYTES = 16


def plan_ragged(values: DatasetValues, resolver: ReferenceResolver, budget: InlineBudget) -> GroupPlan:
    """Sequences of numbers or of object references.

    Raises
    ------
    CannotRepresentError
        For sequences of text, of compounds or of sequences.
    """
    if has_misread_sequences(values.dataset.id.get_type()):
        raise CannotRepresentError(
            "sequences of big-endian numbers, which h5py reads with their bytes swapped"
        )
    item = h5py.check_vlen_dtype(values.dataset.dtype)
    if item is None:
        raise CannotRepresentError("sequences inside another data type are not represented")
    base = np.dtype(item)
    is_reference = h5py.check_ref_dtype(base) is h5py.Reference
    target = np.dtype(object) if is_reference else target_dtype(base)
    budget.check(values.written_elements() * _POINTER_BYTES)
    items = _items(values)
    lengths = np.array([len(part) for part in items], np.uint64)
    offsets = np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])
    group = GroupPlan({}, {MARKER: {"shape": list(values.shape)}})
    before = resolver.dangling
    flat = [part for part in items if len(part)]
    if is_reference:
        paths = [resolver.path_of(reference) for part in flat for reference in part]
        group.arrays["values"] = _plan_paths(paths)
    else:
        joined = np.concatenate(flat) if flat else np.zeros(0, base)
        group.arrays["values"] = _plan_numbers(narrowed(joined, target))
    group.arrays["offsets"] = _plan_numbers(offsets.astype("<u8"))
    note_dangling(group.converted, resolver.dangling - before)
    for plan in group.arrays.values():
        budget.charge(list(plan.inline.values()))
    return group


def _items(values: DatasetValues) -> list[Any]:
    """One sequence per element of the dataset; those that were never written are empty."""
    if not values.shape:
        return [part for region in values.regions() for part in [values.read(region)[()]]] or [()]
    whole = np.full(values.shape, None, object)
    for region in values.regions():
        whole[region.selection] = values.read(region)
    return [() if part is None else part for part in whole.reshape(-1).tolist()]


def _plan_numbers(numbers: np.ndarray[Any, DType]) -> ArrayPlan:
    fill = np.zeros((), numbers.dtype)
    plan = _flat_plan(len(numbers), numbers.dtype.itemsize)
    plan.data_type, plan.codecs = zarr_data_type(numbers.dtype), [bytes_codec(numbers.dtype)]
    plan.fill_value, plan.attributes = json_fill(fill), {"_DTYPE": type_name(numbers.dtype)}
    edge = plan.chunk_shape[0]
    for number, start in enumerate(range(0, len(numbers), edge)):
        plan.inline[(number,)] = padded(numbers[start : start + edge], (edge,), fill).tobytes()
    return plan


def _plan_paths(paths: list[str]) -> ArrayPlan:
    plan = _flat_plan(len(paths), _POINTER_BYTES)
    plan.attributes = {"_DTYPE": "object_reference"}
    edge = plan.chunk_shape[0]
    for number, start in enumerate(range(0, len(paths), edge)):
        part = np.array([*paths[start : start + edge], ""], object)[:-1]
        plan.inline[(number,)] = VLenUTF8().encode(padded(part, (edge,), ""))
    return plan


def _flat_plan(length: int, itemsize: int) -> ArrayPlan:
    (edge,) = inline_chunk_shape((length,), (1,), itemsize, TARGET_BYTES)
    return ArrayPlan((length,), (edge,), "string", [TEXT_CODEC], "")
