"""One dataset → one array: referenced in place, or held in the document.

In place when the stored bytes are the values (``dtypes``) and codecs undo the filters
(``h5_filters_to_codecs``). Text, references and compounds with such fields go to ``heap_values``,
sequences and what has no fixed width to ``nested``, everything else that h5py can read to ``copies``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

import h5py
import numpy as np
from h5py import h5d

from ...errors import UnsupportedError
from .array_plan import ArrayPlan, Plan
from .copies import plan_copy, target_dtype
from .dataset_context import DatasetContext
from .dataset_values import DatasetValues
from .dimension_scales import dimension_names
from .dtypes import DType, NotInPlaceError, bytes_codec, stored_dtype, struct_marks, zarr_data_type
from .fill_values import json_fill
from .foreign import check_sources, open_foreign
from .forms import Form, form_of, refuse_misread
from .h5_filters_to_codecs import NoCodecError
from .heap_values import TEXT_CODEC, plan_references, plan_table, plan_text, table_itemsize, text_itemsize
from .in_place import InPlace
from .nested import plan_nested, plan_values
from .object_names import absolute
from .raw_files import plan_raw
from .reasons import CannotRepresentError, reading
from .references import ReferenceResolver
from .virtual import plan_virtual
from .written_out import hold_missing

NULL_DATASPACE = "_NULL_DATASPACE"
"""Attribute of the empty array that a dataset with a null dataspace becomes."""


def plan_dataset(dataset: h5py.Dataset, path: str, context: DatasetContext) -> Plan:
    """What a dataset becomes.

    Parameters
    ----------
    dataset : h5py.Dataset
        The dataset.
    path : str
        Its path, for messages.
    context : DatasetContext
        The file and the options.

    Raises
    ------
    CannotRepresentError
        When it has to be left out; the message is the reason.
    UnsupportedError
        The same with ``on_unsupported="error"``, and for what would have to be copied.
    """
    names = dimension_names(dataset, path, context.resolver)  # before the plan, which may close the dataset
    plan = _plan(dataset, path, context)
    if isinstance(plan, ArrayPlan):
        plan.dimension_names = names
        hold_missing(plan, context.budget)
    return plan


def _plan(dataset: h5py.Dataset, path: str, context: DatasetContext) -> Plan:
    with reading():
        tid, properties = dataset.id.get_type(), dataset.id.get_create_plist()
        layout, shape = properties.get_layout(), dataset.shape
        is_foreign = layout == h5d.VIRTUAL or properties.get_external_count() > 0
    form = form_of(tid)
    if shape is None:
        return _plan_null(dataset, form, context.resolver)
    if form == "plain" and not is_foreign:
        try:
            dtype = stored_dtype(tid)
            zarr_data_type(dtype.subdtype[0] if dtype.subdtype else dtype)
            return InPlace(dataset, dtype, context).plan()
        except (NotInPlaceError, NoCodecError) as error:
            return _plan_copied(dataset, path, form, str(error), context)
    if is_foreign:
        return _plan_foreign(dataset, path, form, context)
    return _plan_held(dataset, form, context)


def _plan_null(dataset: h5py.Dataset, form: Form, resolver: ReferenceResolver) -> Plan:
    """A null dataspace: what an empty dataset of the data type is, marked."""
    if form in ("text", "reference"):
        label = "str" if form == "text" else "object_reference"
        plan: Plan = ArrayPlan((0,), (1,), "string", [TEXT_CODEC], "", {"_DTYPE": label})
    elif form == "plain":
        dtype = _null_dtype(dataset)
        fill = json_fill(np.zeros((), dtype))
        plan = ArrayPlan((0,), (1,), zarr_data_type(dtype), [bytes_codec(dtype)], fill, struct_marks(dtype))
    else:
        tid = dataset.id.get_type()
        with reading("its data type"):
            base, _ = dataset.dtype.subdtype or (dataset.dtype, ())
        plan = plan_values(tid, np.zeros((0,), base), resolver)
    plan.attributes[NULL_DATASPACE] = True
    return plan


def _null_dtype(dataset: h5py.Dataset) -> DType:
    """The data type of the empty array that stands for a null dataspace."""
    try:
        try:
            shown = stored_dtype(dataset.id.get_type())
        except NotInPlaceError:
            with reading():
                shown = dataset.dtype
        base = shown.subdtype[0] if shown.subdtype else shown
        if base.names is None:
            return target_dtype(base)
        zarr_data_type(base)
    except (CannotRepresentError, NotInPlaceError) as error:
        raise CannotRepresentError(f"a null dataspace, and {error}") from error
    return base


def _plan_foreign(dataset: h5py.Dataset, path: str, form: Form, context: DatasetContext) -> Plan:
    """A virtual dataset, or one in external raw files: referenced where they are, else copied."""
    is_virtual = dataset.id.get_create_plist().get_layout() == h5d.VIRTUAL
    reason = "a virtual dataset" if is_virtual else "its values are in external raw files"
    if form == "plain":
        try:
            return plan_virtual(dataset, context) if is_virtual else plan_raw(dataset, context)
        except (NotInPlaceError, NoCodecError) as error:
            reason = str(error) if str(error).startswith(reason) else f"{reason}: {error}"
    _refuse_copy(path, reason, context)
    opened = open_foreign(dataset, context)
    plan = _plan_held(opened, form, context, check=lambda: check_sources(opened, context))
    return _noted(plan, reason)


def _plan_copied(dataset: h5py.Dataset, path: str, form: Form, reason: str, context: DatasetContext) -> Plan:
    _refuse_copy(path, reason, context)
    try:
        return _noted(_plan_held(dataset, form, context), reason)
    except CannotRepresentError as error:
        raise CannotRepresentError(f"{reason}; {error}") from error


def _refuse_copy(path: str, reason: str, context: DatasetContext) -> None:
    if context.on_unsupported == "error":
        raise UnsupportedError(f'{absolute(path)}: {reason}; pass on_unsupported="copy" to hold its values')
    if context.on_unsupported == "skip":
        raise CannotRepresentError(reason)


def _noted(plan: Plan, reason: str) -> Plan:
    plan.converted.insert(0, f"values copied: {reason}")
    return plan


def _plan_held(
    dataset: h5py.Dataset, form: Form, context: DatasetContext, check: Callable[[], None] | None = None
) -> Plan:
    """Values that h5py reads and the document holds."""
    tid = dataset.id.get_type()
    refuse_misread(tid)
    with reading("its data type"):
        shown = dataset.dtype
    values = partial(DatasetValues, dataset, check=check)
    if form == "text":
        return plan_text(values(text_itemsize()), context.budget)
    if form == "reference":
        return plan_references(values(text_itemsize()), context.resolver, context.budget)
    if form == "table":
        return plan_table(values(table_itemsize(tid)), context.resolver, context.budget)
    if form == "plain":
        with contextlib.suppress(NotInPlaceError):
            return plan_copy(values(shown.itemsize), context.budget)
    return plan_nested(values(shown.itemsize), context.resolver, context.budget)
