"""One dataset: datatype, dataspace, creation properties, fill value, and values that the node lacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from h5py import h5d, h5t

from ....hdf5_types.defaults import RAGGED, chunk_shape, default_shape, default_type
from ....hdf5_types.memory import element_type
from ....hdf5_types.references import References
from ....hdf5_types.spaces import NULL
from ..reasons import CannotRepresentError, reading
from .facts import Facts, Unread
from .reading import dataset_values, loses_bits
from .section import KIND, VALUES_LIMIT, Section

_ZARR_KINDS = {
    h5t.INTEGER: ("int", "uint"),
    h5t.ENUM: ("int", "uint", "bool"),
    h5t.BITFIELD: ("uint",),
    h5t.FLOAT: ("float",),
    h5t.COMPLEX: ("complex",),
    h5t.OPAQUE: ("raw_bytes", "numpy.datetime64", "numpy.timedelta64"),
    h5t.STRING: ("string", "variable_length_bytes", "null_terminated_bytes", "fixed_length_utf32"),
    h5t.REFERENCE: ("string", "fixed_length_utf32"),
    h5t.COMPOUND: ("struct", "complex"),
}


def describe_dataset(
    facts: Facts,
    path: str,
    node: Mapping[str, Any] | None,
    section: Section,
    references: References,
    *,
    lost_references: bool,
    open_again: Callable[[], h5d.DatasetID],
) -> dict[str, Any]:
    """What the Zarr side does not say about a dataset, but its attributes.

    Parameters
    ----------
    facts : Facts
        The dataset.
    path : str
        Its path in the section.
    node : mapping or None
        ``zarr.json`` of what it became; None when it is left out. For a group of sequences it has the
        metadata of the array ``values`` at the key ``values``.
    section : Section
        Collects types, and what cannot be described.
    references : References
        The objects of the file.
    lost_references : bool
        Whether the node holds references to nothing in place of others.
    open_again : callable
        Opens the dataset, for values that the node lacks.
    """
    known, shape = facts.type, facts.space
    assert known is not None  # noqa: S101 - a dataset has a datatype
    described = section.type_json(known, facts.committed)
    entry: dict[str, Any] = {} if node is not None else {"class": "dataset"}
    if node is None or described != _usual_type(node):
        entry["type"] = section.type_entry(described)
    entry |= _shape(shape, None if node is None else default_shape(node))
    creation = _creation(facts, path, node, section)
    entry |= {KIND: "dataset", "creation": section.creation_entry("dataset", creation)}
    if shape == NULL:
        return entry
    is_lost = node is None or lost_references or not is_kept(known.tid, node)
    if is_lost or (known.may_lose_bits and loses_bits(open_again(), known.tid)):
        value = _values(open_again(), path, section, references)
        if value is not None:
            entry["value"] = value
    return entry


def _shape(shape: dict[str, Any], usual: dict[str, Any] | None) -> dict[str, Any]:
    """What has to be said of a dataspace: all of it, its limits alone, or nothing."""
    if shape == usual:
        return {}
    if usual is not None and {**usual, "maxdims": shape.get("maxdims")} == shape:
        return {"maxdims": shape["maxdims"]}
    return {"shape": shape}


def _usual_type(node: Mapping[str, Any]) -> Any:
    if RAGGED in node.get("attributes", {}):
        return {"class": "H5T_VLEN", "base": default_type(node["values"])}
    return default_type(node) if "data_type" in node else None


def is_kept(tid: h5t.TypeID, node: Mapping[str, Any]) -> bool:
    """Whether values of a datatype can be had again from an array of this metadata.

    Parameters
    ----------
    tid : h5py.h5t.TypeID
        The datatype in the file.
    node : mapping
        As for `describe_dataset`.
    """
    if RAGGED in node.get("attributes", {}):
        return bool(
            tid.get_class() == h5t.VLEN
            and tid.get_super().get_class() not in (h5t.VLEN, h5t.COMPOUND, h5t.ARRAY, h5t.STRING)
            and _fits(tid.get_super(), node["values"]["data_type"])
        )
    return "data_type" in node and tid.get_class() != h5t.VLEN and _fits(tid, node["data_type"])


def _fits(tid: h5t.TypeID, data_type: Any) -> bool:
    while tid.get_class() == h5t.ARRAY:
        tid = tid.get_super()
    name = data_type if isinstance(data_type, str) else data_type["name"]
    kinds = _ZARR_KINDS.get(tid.get_class(), ())
    if not any(name == kind or name.rstrip("0123456789") == kind for kind in kinds):
        return False
    if tid.get_class() == h5t.REFERENCE:
        return bool(tid.equal(h5t.STD_REF_OBJ))
    if tid.get_class() == h5t.COMPOUND and name == "struct":
        fields = data_type["configuration"]["fields"]
        members = range(tid.get_nmembers())
        return len(fields) == len(members) and all(
            field["name"].encode("utf-8", "surrogateescape") == tid.get_member_name(number)
            and _fits_member(tid.get_member_type(number), field["data_type"])
            for number, field in zip(members, fields, strict=True)
        )
    return True


def _fits_member(tid: h5t.TypeID, data_type: Any) -> bool:
    """Whether a field is one of a compound; an array in it is a struct of its numbered elements."""
    base, axes = element_type(tid)
    if not axes:
        return _fits(tid, data_type)
    if isinstance(data_type, str) or data_type["name"] != "struct":
        return False
    parts = data_type["configuration"]["fields"]
    return len(parts) == math.prod(axes) and all(_fits(base, part["data_type"]) for part in parts)


def _creation(facts: Facts, path: str, node: Mapping[str, Any] | None, section: Section) -> dict[str, Any]:
    creation = facts.creation
    layout = creation.get("layout", {})
    axes = len(layout.get("dims", ()))
    if (
        "dims" in layout
        and node is not None
        and "data_type" in node
        and chunk_shape(node)[:axes] == layout["dims"]
    ):
        del layout["dims"]
    if isinstance(facts.fill, Unread):
        section.not_described(path, "fill value", facts.fill.reason)
    elif facts.fill is not None:
        creation["fillValue"] = facts.fill
    return creation


def _values(dataset: h5d.DatasetID, path: str, section: Section, references: References) -> Any:
    properties = dataset.get_create_plist()
    if properties.get_layout() == h5d.VIRTUAL or properties.get_external_count():
        section.not_described(path, "values", "its values are in other files")
        return None
    try:
        if is_never_written(dataset):
            return None
        value = dataset_values(dataset, references, most_bytes=VALUES_LIMIT)
    except CannotRepresentError as error:
        section.not_described(path, "values", str(error))
        return None
    if not section.has_room(value):
        section.not_described(path, "values", "its values are more than the section holds")
        return None
    return value


def is_never_written(dataset: h5d.DatasetID) -> bool:
    """Whether no value of a dataset was ever stored."""
    with reading("where its values are"):
        return bool(dataset.get_space_status() == h5d.SPACE_STATUS_NOT_ALLOCATED)
