"""Creation properties of datasets and groups ↔ JSON, with the names of hdf5-json's ``creationProperties``.

What is at its default is not in the JSON. Sources of virtual datasets and external files are described, so
that nothing is lost; whether they are made again is the decision of the writer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from h5py import h5d, h5p, h5z

from .names import name_to_text, path_to_text
from .references import selection_to_json

LAYOUTS = {
    h5d.COMPACT: "H5D_COMPACT",
    h5d.CONTIGUOUS: "H5D_CONTIGUOUS",
    h5d.CHUNKED: "H5D_CHUNKED",
    h5d.VIRTUAL: "H5D_VIRTUAL",
}
ALLOCATION_TIMES = {
    h5d.ALLOC_TIME_EARLY: "H5D_ALLOC_TIME_EARLY",
    h5d.ALLOC_TIME_LATE: "H5D_ALLOC_TIME_LATE",
    h5d.ALLOC_TIME_INCR: "H5D_ALLOC_TIME_INCR",
}
FILL_TIMES = {
    h5d.FILL_TIME_ALLOC: "H5D_FILL_TIME_ALLOC",
    h5d.FILL_TIME_NEVER: "H5D_FILL_TIME_NEVER",
    h5d.FILL_TIME_IFSET: "H5D_FILL_TIME_IFSET",
}
FILTERS = {
    h5z.FILTER_DEFLATE: "H5Z_FILTER_DEFLATE",
    h5z.FILTER_SHUFFLE: "H5Z_FILTER_SHUFFLE",
    h5z.FILTER_FLETCHER32: "H5Z_FILTER_FLETCHER32",
    h5z.FILTER_SZIP: "H5Z_FILTER_SZIP",
    h5z.FILTER_NBIT: "H5Z_FILTER_NBIT",
    h5z.FILTER_SCALEOFFSET: "H5Z_FILTER_SCALEOFFSET",
    32000: "H5Z_FILTER_LZF",
}
USER_FILTER = "H5Z_FILTER_USER"

TRACKED, INDEXED = "H5P_CRT_ORDER_TRACKED", "H5P_CRT_ORDER_INDEXED"

DEFAULT_LAYOUT = {"class": "H5D_CONTIGUOUS"}
DEFAULT_ALLOCATION = {
    "H5D_COMPACT": "H5D_ALLOC_TIME_EARLY",
    "H5D_CONTIGUOUS": "H5D_ALLOC_TIME_LATE",
    "H5D_CHUNKED": "H5D_ALLOC_TIME_INCR",
    "H5D_VIRTUAL": "H5D_ALLOC_TIME_INCR",
}
DEFAULT_FILL_TIME = "H5D_FILL_TIME_IFSET"
UNDEFINED = "H5D_FILL_VALUE_UNDEFINED"

_GIVEN_VALUES = {h5z.FILTER_NBIT: 0, h5z.FILTER_SCALEOFFSET: 2}
"""Client data values that its user gives; HDF5 adds the rest, which follows from the datatype."""

_ADDED_VALUES = {32008: 3}
"""Client data values that a plug-in puts before those of its user."""

_MOST_VALUES = 16
"""As many client data values h5py has room for."""


def dataset_properties(properties: h5p.PropDCID) -> dict[str, Any]:
    """Creation properties of a dataset but its fill value; chunk shapes included.

    Parameters
    ----------
    properties : h5py.h5p.PropDCID
        The creation property list.
    """
    layout = LAYOUTS.get(properties.get_layout(), "H5D_UNKNOWN")
    described: dict[str, Any] = {}
    if layout != DEFAULT_LAYOUT["class"] or properties.get_external_count():
        described["layout"] = _layout(layout, properties)
    allocation = ALLOCATION_TIMES.get(properties.get_alloc_time())
    if allocation != DEFAULT_ALLOCATION.get(layout):
        described["allocTime"] = allocation
    fill_time = FILL_TIMES.get(properties.get_fill_time())
    if fill_time != DEFAULT_FILL_TIME:
        described["fillTime"] = fill_time
    filters = [_filter(*properties.get_filter(number)) for number in range(properties.get_nfilters())]
    if filters:
        described["filters"] = filters
    if properties.get_obj_track_times():
        described["trackTimes"] = True
    return described | attribute_order(properties)


def group_properties(properties: h5p.PropGCID) -> dict[str, Any]:
    """Creation properties of a group, or of the root group from those of the file."""
    described = attribute_order(properties)
    links = order_flags(properties.get_link_creation_order())
    if links:
        described["linkCreationOrder"] = links
    return described


def attribute_order(properties: h5p.PropOCID) -> dict[str, Any]:
    """Whether the order in which attributes were made is tracked."""
    flags = order_flags(properties.get_attr_creation_order())
    return {"attributeCreationOrder": flags} if flags else {}


def order_flags(flags: int) -> str:
    """Flags of a creation order as text; empty for none."""
    names = ((h5p.CRT_ORDER_TRACKED, TRACKED), (h5p.CRT_ORDER_INDEXED, INDEXED))
    return "|".join(name for flag, name in names if flags & flag)


def flags_of_order(text: str) -> int:
    """The flags that `order_flags` wrote."""
    return (h5p.CRT_ORDER_TRACKED if TRACKED in text else 0) | (
        h5p.CRT_ORDER_INDEXED if INDEXED in text else 0
    )


def _layout(layout: str, properties: h5p.PropDCID) -> dict[str, Any]:
    described: dict[str, Any] = {"class": layout}
    if layout == "H5D_CHUNKED":
        described["dims"] = list(properties.get_chunk())
    elif layout == "H5D_VIRTUAL":
        described["sources"] = [_source(properties, n) for n in range(properties.get_virtual_count())]
    count = properties.get_external_count()
    if count:
        files = map(properties.get_external, range(count))
        described["externalStorage"] = [
            {"name": name_to_text(name), "offset": int(offset), "size": int(size)}
            for name, offset, size in files
        ]
    return described


def _source(properties: h5p.PropDCID, number: int) -> dict[str, Any]:
    return {
        "file": _as_text(properties.get_virtual_filename(number)),
        "h5path": _as_text(properties.get_virtual_dsetname(number)),
        "selection": selection_to_json(properties.get_virtual_vspace(number)),
        "sourceSelection": selection_to_json(properties.get_virtual_srcspace(number)),
    }


def _as_text(name: str | bytes) -> str:
    return path_to_text(name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape"))


def _filter(number: int, flags: int, values: tuple[int, ...], name: bytes) -> dict[str, Any]:
    described: dict[str, Any] = {"class": FILTERS.get(number, USER_FILTER), "id": number}
    values = values[: _GIVEN_VALUES.get(number, _MOST_VALUES)]
    if values:
        described["values"] = list(values)
    if number not in FILTERS and name:
        described["name"] = name_to_text(name)
    if flags:
        described["flags"] = flags
    return described


def make_dataset_properties(described: Mapping[str, Any]) -> h5p.PropDCID:
    """A creation property list without fill value, filters and sources elsewhere.

    Parameters
    ----------
    described : mapping
        From `dataset_properties`, with the dims of chunks.
    """
    properties = h5p.create(h5p.DATASET_CREATE)
    layout = described.get("layout", DEFAULT_LAYOUT)
    if layout["class"] == "H5D_CHUNKED":
        properties.set_chunk(tuple(layout["dims"]))
    elif layout["class"] == "H5D_COMPACT":
        properties.set_layout(h5d.COMPACT)
    if "allocTime" in described and layout["class"] != "H5D_VIRTUAL":
        properties.set_alloc_time(_constant(ALLOCATION_TIMES, described["allocTime"]))
    if "fillTime" in described:
        properties.set_fill_time(_constant(FILL_TIMES, described["fillTime"]))
    properties.set_obj_track_times(bool(described.get("trackTimes")))
    if "attributeCreationOrder" in described:
        properties.set_attr_creation_order(flags_of_order(described["attributeCreationOrder"]))
    return properties


def add_filter(properties: h5p.PropDCID, described: Mapping[str, Any]) -> None:
    """Add one filter to a creation property list."""
    number, values = described["id"], described.get("values", ())
    values = tuple(values[_ADDED_VALUES.get(number, 0) :])
    properties.set_filter(number, described.get("flags", 0), values or None)


def set_orders(properties: h5p.PropGCID, described: Mapping[str, Any]) -> None:
    """Say which creation orders a group tracks."""
    if "linkCreationOrder" in described:
        properties.set_link_creation_order(flags_of_order(described["linkCreationOrder"]))
    if "attributeCreationOrder" in described:
        properties.set_attr_creation_order(flags_of_order(described["attributeCreationOrder"]))


def _constant(names: Mapping[int, str], name: str) -> int:
    for value, known in names.items():
        if known == name:
            return value
    raise ValueError(f"{name!r} is no creation property that is known")
