"""Sequences, region references, and compounds that are no ``struct``: arrays in groups, as deep as need be.

Sequences become a group of ``values`` and ``offsets``, marked by `RAGGED`: item i in C order is
``values[offsets[i]:offsets[i + 1]]``. A compound with a field that Zarr has no fixed width for becomes a
group with one member for each field, marked by `COLUMNS`. What is in such a group is represented by the
same rules, so that ``values`` may be a group again. A region reference is the JSON of the HDF REST API.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from h5py import h5t
from numcodecs import VLenUTF8

from ...hdf5_types.memory import element_type
from .array_plan import ArrayPlan, GroupPlan, Plan
from .copies import narrowed, packed_dtype
from .dataset_values import TARGET_BYTES, DatasetValues, padded
from .dtypes import DType, NotInPlaceError, bytes_codec, check_parts, flattened, struct_marks, zarr_data_type
from .fill_values import is_shown, json_fill
from .forms import form_of
from .h5_chunk_utils import inline_chunk_shape
from .heap_values import TEXT_CODEC, note_dangling, objects, plan_texts, text_itemsize
from .inline_budget import InlineBudget
from .object_names import why_not_a_node
from .reasons import CannotRepresentError, reading
from .references import NULL, ReferenceResolver

RAGGED = "_RAGGED"
"""Attribute of the group that sequences become."""

COLUMNS = "_COLUMNS"
"""Attribute of the group that a compound becomes when it is no ``struct``."""

_POINTER_BYTES = 16
_KEYS = frozenset({"c", "zarr.json"})

Values = np.ndarray[Any, DType]


def plan_nested(values: DatasetValues, resolver: ReferenceResolver, budget: InlineBudget) -> Plan:
    """All values of a dataset, held in arrays and groups.

    Raises
    ------
    CannotRepresentError
        When h5py cannot read them, a part has no form, or there is no room.
    """
    tid = values.tid
    budget.check(math.prod(values.shape) * max(_POINTER_BYTES, tid.get_size()))
    before = resolver.dangling
    plan = plan_values(tid, _whole(values), resolver)
    note_dangling(plan.converted, resolver.dangling - before)
    _charge(plan, budget)
    return plan


def plan_values(tid: h5t.TypeID, values: Values, resolver: ReferenceResolver) -> Plan:
    """Values in memory as an array or a group.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        Their datatype.
    values : numpy.ndarray
        As h5py gives them, the axes of array datatypes at the end.
    resolver : ReferenceResolver
        Paths of references.

    Raises
    ------
    CannotRepresentError
        When a part has no form.
    """
    tid, _ = element_type(tid)
    match tid.get_class():
        case h5t.STRING:
            length = None if tid.is_variable_str() else tid.get_size()
            return plan_texts(*_cut(values, text_itemsize()), values.shape, b"", length)
        case h5t.REFERENCE:
            return _references(tid, values, resolver)
        case h5t.VLEN:
            return _sequences(tid.get_super(), values, resolver)
        case h5t.COMPOUND if values.dtype.names is not None and not _is_struct(tid, values.dtype):
            return _columns(tid, values, resolver)
        case _:
            return _numbers(values)


def _whole(values: DatasetValues) -> Values:
    """Everything in one array; what was never written is the fill value, zero or empty."""
    base = values.dtype.base
    whole = np.zeros((*values.shape, *values.dtype.shape), base)
    if is_shown(values.properties):
        with reading("its fill value"):
            whole[...] = values.dataset.fillvalue
    if 0 not in values.shape and not any(True for _ in values.regions()):
        with reading():  # what h5py cannot read it cannot read either when nothing was written
            values.dataset[(slice(0, 1),) * len(values.shape)]
    for region in values.regions():
        if whole.ndim:
            whole[region.selection] = values.read(region)
        else:
            with reading():
                whole = _scalar(values.dataset[()], base)
    return whole


def _scalar(item: Any, dtype: DType) -> Values:
    """One element, also when it is itself an array."""
    if dtype.hasobject and dtype.names is None:
        return objects([item]).reshape(())
    return np.array(item, dtype)


def _is_struct(tid: h5t.TypeCompoundID, dtype: DType) -> bool:
    if form_of(tid) != "plain":
        return False
    try:
        check_parts(dtype)
    except NotInPlaceError:
        return False
    return True


def _references(tid: h5t.TypeID, values: Values, resolver: ReferenceResolver) -> ArrayPlan:
    is_region = not tid.equal(h5t.STD_REF_OBJ)
    items = [
        _region(item, resolver) if is_region else resolver.path_of(item)
        for item in values.reshape(-1).tolist()
    ]
    chunk_shape, found = _cut(objects(items).reshape(values.shape), text_itemsize())
    label = "region_reference" if is_region else "object_reference"
    plan = ArrayPlan(values.shape, chunk_shape, "string", [TEXT_CODEC], NULL, {"_DTYPE": label})
    for place, part in found.items():
        chunk = padded(part, chunk_shape, NULL)
        plan.inline[place] = VLenUTF8().encode(objects(chunk.reshape(-1).tolist()))
    return plan


def _region(item: Any, resolver: ReferenceResolver) -> str:
    described = resolver.region_of(item)
    return NULL if described is None else json.dumps(described, ensure_ascii=False, separators=(",", ":"))


def _sequences(item: h5t.TypeID, values: Values, resolver: ReferenceResolver) -> GroupPlan:
    parts = [part if isinstance(part, np.ndarray) else () for part in values.reshape(-1).tolist()]
    lengths = np.array([len(part) for part in parts], np.uint64)
    offsets = np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])
    group = GroupPlan({}, {RAGGED: {"shape": list(values.shape)}})
    flat = [part for part in parts if len(part)]
    joined = np.concatenate(flat) if flat else _nothing(item)
    _add(group, "values", plan_values(item, joined, resolver))
    _add(group, "offsets", _numbers(offsets))
    return group


def _nothing(tid: h5t.TypeID) -> Values:
    """No values of a datatype."""
    with reading("its data type"):
        dtype = flattened(tid.dtype)
    return np.zeros((0, *dtype.shape), dtype.base)


def _columns(tid: h5t.TypeCompoundID, values: Values, resolver: ReferenceResolver) -> GroupPlan:
    names = [_name(tid.get_member_name(number)) for number in range(tid.get_nmembers())]
    members = _member_names(names)
    fields = [{"name": name, "member": member} for name, member in zip(names, members, strict=True)]
    group = GroupPlan({}, {COLUMNS: {"shape": list(values.shape), "fields": fields}})
    for number, (name, member) in enumerate(zip(names, members, strict=True)):
        try:
            plan = plan_values(tid.get_member_type(number), values[name], resolver)
        except CannotRepresentError as error:
            raise CannotRepresentError(f"field {name!r} of a compound: {error}") from error
        _add(group, member, plan)
    return group


def _name(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _member_names(names: list[str]) -> list[str]:
    """Names of the members for fields: the same, or their numbers when one cannot be a node's name."""
    odd = any(why_not_a_node(name) or "/" in name or name in _KEYS for name in names)
    return [str(number) for number in range(len(names))] if odd else names


def _add(group: GroupPlan, name: str, plan: Plan) -> None:
    group.arrays[name] = plan
    group.converted += [what for what in plan.converted if what not in group.converted]


def _numbers(values: Values) -> ArrayPlan:
    target = packed_dtype(values.dtype)
    copied, fill = narrowed(values, target), np.zeros((), target)
    chunk_shape, found = _cut(copied, target.itemsize)
    plan = ArrayPlan(
        values.shape,
        chunk_shape,
        zarr_data_type(target),
        [bytes_codec(target)],
        json_fill(fill),
        struct_marks(target),
    )
    for place, part in found.items():
        plan.inline[place] = padded(part, chunk_shape, fill).tobytes()
    return plan


def _cut(values: Values, itemsize: int) -> tuple[tuple[int, ...], dict[tuple[int, ...], Values]]:
    """A chunk shape for values, and the chunks by their coordinates; those at the end may be short."""
    shape = values.shape
    chunk_shape = inline_chunk_shape(shape, (1,) * len(shape), itemsize, TARGET_BYTES)
    grid = [-(-extent // edge) for extent, edge in zip(shape, chunk_shape, strict=True)]
    found = {}
    for place in np.ndindex(*grid):
        start = [at * edge for at, edge in zip(place, chunk_shape, strict=True)]
        selection = tuple(slice(a, a + edge) for a, edge in zip(start, chunk_shape, strict=True))
        found[place] = np.asarray(values[selection])
    return chunk_shape, found


def _charge(plan: Plan, budget: InlineBudget) -> None:
    if isinstance(plan, ArrayPlan):
        budget.charge(list(plan.inline.values()))
        return
    for member in plan.arrays.values():
        _charge(member, budget)
