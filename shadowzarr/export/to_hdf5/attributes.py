"""Attributes of one object of the new file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from h5py import h5a, h5t

from ...hdf5_types.defaults import default_attribute
from ...hdf5_types.heap import release, writes_a_copy
from ...hdf5_types.memory import element_type, memory_form
from ...hdf5_types.names import text_to_name
from ...hdf5_types.references import References
from ...hdf5_types.spaces import NULL, dims_of, space_from_json
from ...hdf5_types.values_from_json import values_from_json
from .creation import PROBLEMS
from .described import MISSING, DescribedFile
from .report import ToHdf5Report


def write_attributes(
    item: Any,
    path: str,
    described: DescribedFile,
    make_type: Any,
    references: References,
    report: ToHdf5Report,
) -> None:
    """Write all attributes of an object, in the order in which they were made.

    Parameters
    ----------
    item : h5py.h5g.GroupID, h5py.h5d.DatasetID or h5py.h5t.TypeID
        The object in the new file.
    path : str
        Its path in the document.
    described : DescribedFile
        What is to be written.
    make_type : callable
        Datatype in JSON → datatype of the new file.
    references : References
        The objects of the new file.
    report : ToHdf5Report
        Collects what was done.
    """
    for name, (held, entry) in described.attributes(path).items():
        try:
            _write(item, name, held, entry, described, make_type, references)
        except PROBLEMS as error:
            report.leave_out(f"{path}@{name}", str(error))
            continue
        report.attributes += 1


def _write(
    item: Any,
    name: str,
    held: Any,
    entry: Mapping[str, Any],
    described: DescribedFile,
    make_type: Any,
    references: References,
) -> None:
    usual, usual_shape = (None, None) if held is MISSING else default_attribute(held)
    type_json = described.type(entry["type"]) if "type" in entry else usual
    shape = entry.get("shape", usual_shape)
    if type_json is None or shape is None:
        raise ValueError(
            f"it is {_kind(held)}, and the references name no HDF5 datatype for it; attributes of an HDF5 "
            "file hold numbers, text and arrays of them"
        )
    tid: h5t.TypeID = make_type(type_json)
    values = None
    if shape != NULL:
        values = values_from_json(tid.copy(), dims_of(shape), entry.get("value", held), references)
    made = h5a.create(item, text_to_name(name), tid, space_from_json(shape))
    if values is None or not values.size:
        return
    try:
        made.write(np.ascontiguousarray(values), mtype=memory_form(tid.copy()).tid)
    except PROBLEMS:
        h5a.delete(item, text_to_name(name))
        raise
    finally:
        if writes_a_copy():
            release(element_type(tid)[0], values)


def _kind(held: Any) -> str:
    """What a value is in JSON, in words."""
    if held is MISSING:
        return "not there"
    inner, is_list = held, isinstance(held, list)
    while isinstance(inner, list):
        inner = inner[0] if inner else None
    if isinstance(inner, dict):
        return "a list of JSON objects" if is_list else "a JSON object"
    return "an empty list" if is_list else "without a type"
