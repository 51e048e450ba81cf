"""One dataset → one array: referenced in place, or held in the document.

In place when the stored bytes are the values (``dtypes``) and codecs undo the filters
(``h5_filters_to_codecs``). Text, references and compounds with such fields go to ``heap_values``,
sequences and what has no fixed width to ``nested``, everything else that h5py can read to ``copies``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

import numpy as np
from h5py import h5d

from ...errors import UnsupportedError
from .array_plan import ArrayPlan, Plan
from .copies import plan_copy, target_dtype
from .dataset_context import DatasetContext
from .dataset_values import DatasetValues
from .dimension_scales import dimension_names
from .dtypes import DType, NotInPlaceError, bytes_codec, struct_marks, zarr_data_type
from .fill_values import json_fill
from .foreign import check_sources, open_foreign
from .forms import Form
from .h5_filters_to_codecs import NoCodecError
from .heap_values import TEXT_CODEC, plan_references, plan_table, plan_text, table_itemsize, text_itemsize
from .in_place import InPlace, zarr_form
from .known_types import KnownType
from .nested import plan_nested, plan_values
from .object_names import absolute
from .opened_object import OpenedDataset
from .raw_files import plan_raw
from .reasons import CannotRepresentError, reading
from .references import ReferenceResolver
from .virtual import plan_virtual
from .written_out import hold_missing

NULL_DATASPACE = "_NULL_DATASPACE"
"""Attribute of the empty array that a dataset with a null dataspace becomes."""


def plan_dataset(opened: OpenedDataset, path: str, context: DatasetContext) -> Plan:
    """What a dataset becomes.

    Parameters
    ----------
    opened : OpenedDataset
        The dataset, which may be closed afterwards.
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
    names = dimension_names(opened, path, context.resolver)  # before the plan, which may close the dataset
    plan = _plan(opened, path, context)
    if isinstance(plan, ArrayPlan):
        plan.dimension_names = names
        hold_missing(plan, context.budget)
    return plan


def _plan(opened: OpenedDataset, path: str, context: DatasetContext) -> Plan:
    with reading():
        known, shape, is_foreign = opened.type, opened.shape, opened.is_foreign
    form = known.form
    if shape is None:
        return _plan_null(opened, form, context.resolver)
    if form == "plain" and not is_foreign:
        try:
            zarr_form(known.stored.base)
            return InPlace(opened, known.stored, context).plan()
        except (NotInPlaceError, NoCodecError) as error:
            return _plan_copied(opened, path, form, str(error), context)
    if is_foreign:
        return _plan_foreign(opened, path, form, context)
    return _plan_held(opened, form, context)


def _plan_null(opened: OpenedDataset, form: Form, resolver: ReferenceResolver) -> Plan:
    """A null dataspace: what an empty dataset of the data type is, marked."""
    if form in ("text", "reference"):
        label = "str" if form == "text" else "object_reference"
        plan: Plan = ArrayPlan((0,), (1,), "string", [TEXT_CODEC], "", {"_DTYPE": label})
    elif form == "plain":
        dtype = _null_dtype(opened.type)
        fill = json_fill(np.zeros((), dtype))
        plan = ArrayPlan((0,), (1,), zarr_data_type(dtype), [bytes_codec(dtype)], fill, struct_marks(dtype))
    else:
        with reading("its data type"):
            base, _ = opened.type.shown.subdtype or (opened.type.shown, ())
        plan = plan_values(opened.tid, np.zeros((0,), base), resolver)
    plan.attributes[NULL_DATASPACE] = True
    return plan


def _null_dtype(known: KnownType) -> DType:
    """The data type of the empty array that stands for a null dataspace."""
    try:
        try:
            shown = known.stored
        except NotInPlaceError:
            with reading():
                shown = known.shown
        base = shown.subdtype[0] if shown.subdtype else shown
        if base.names is None:
            return target_dtype(base)
        zarr_data_type(base)
    except (CannotRepresentError, NotInPlaceError) as error:
        raise CannotRepresentError(f"a null dataspace, and {error}") from error
    return base


def _plan_foreign(opened: OpenedDataset, path: str, form: Form, context: DatasetContext) -> Plan:
    """A virtual dataset, or one in external raw files: referenced where they are, else copied."""
    dataset, is_virtual = opened.shown, opened.layout == h5d.VIRTUAL
    reason = "a virtual dataset" if is_virtual else "its values are in external raw files"
    if form == "plain":
        try:
            return plan_virtual(dataset, context) if is_virtual else plan_raw(dataset, context)
        except (NotInPlaceError, NoCodecError) as error:
            reason = str(error) if str(error).startswith(reason) else f"{reason}: {error}"
    _refuse_copy(path, reason, context)
    beside = open_foreign(dataset, context)
    held = OpenedDataset(beside.id)
    plan = _plan_held(held, form, context, check=lambda: check_sources(beside, context))
    return _noted(plan, reason)


def _plan_copied(opened: OpenedDataset, path: str, form: Form, reason: str, context: DatasetContext) -> Plan:
    _refuse_copy(path, reason, context)
    try:
        return _noted(_plan_held(opened, form, context), reason)
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
    opened: OpenedDataset, form: Form, context: DatasetContext, check: Callable[[], None] | None = None
) -> Plan:
    """Values that h5py reads and the document holds."""
    known = opened.type
    if known.why_misread:
        raise CannotRepresentError(known.why_misread)
    with reading("its data type"):
        shown = known.shown
    values = partial(DatasetValues, opened, check=check)
    if form == "text":
        return plan_text(values(text_itemsize()), context.budget)
    if form == "reference":
        return plan_references(values(text_itemsize()), context.resolver, context.budget)
    if form == "table":
        return plan_table(values(table_itemsize(known.tid)), context.resolver, context.budget)
    if form == "plain":
        with contextlib.suppress(NotInPlaceError):
            return plan_copy(values(shown.itemsize), context.budget)
    return plan_nested(values(shown.itemsize), context.resolver, context.budget)
