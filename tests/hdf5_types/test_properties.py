"""Dataspaces, creation properties and fill values as JSON, and back."""

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from shadowzarr.hdf5_types.fill import fill_to_json, set_fill
from shadowzarr.hdf5_types.properties import (
    UNDEFINED,
    add_filter,
    dataset_properties,
    flags_of_order,
    group_properties,
    make_dataset_properties,
    order_flags,
    set_orders,
)
from shadowzarr.hdf5_types.spaces import space_from_json, space_to_json


@pytest.mark.parametrize(
    ("space", "described"),
    [
        (h5s.create(h5s.NULL), {"class": "H5S_NULL"}),
        (h5s.create(h5s.SCALAR), {"class": "H5S_SCALAR"}),
        (h5s.create_simple((2, 0)), {"class": "H5S_SIMPLE", "dims": [2, 0]}),
        (
            h5s.create_simple((2, 3), (h5s.UNLIMITED, 9)),
            {"class": "H5S_SIMPLE", "dims": [2, 3], "maxdims": ["H5S_UNLIMITED", 9]},
        ),
    ],
)
def test_dataspaces(space, described):
    assert space_to_json(space) == described
    assert space_to_json(space_from_json(described)) == described


def test_an_unknown_dataspace_is_refused():
    with pytest.raises(ValueError, match="H5S_ROUND"):
        space_from_json({"class": "H5S_ROUND"})


def usual(**options):
    with h5py.File.in_memory() as file:
        return file.create_dataset("d", **options).id.get_create_plist()


def test_what_h5py_writes_by_default_needs_no_words():
    assert dataset_properties(usual(data=np.arange(3))) == {}


def test_chunks_and_filters_are_named():
    described = dataset_properties(
        usual(shape=(8,), dtype="i2", chunks=(4,), compression="gzip", shuffle=True)
    )
    assert described == {
        "layout": {"class": "H5D_CHUNKED", "dims": [4]},
        "filters": [
            {"class": "H5Z_FILTER_SHUFFLE", "id": 2, "values": [2], "flags": 1},
            {"class": "H5Z_FILTER_DEFLATE", "id": 1, "values": [4], "flags": 1},
        ],
    }
    again = make_dataset_properties(described)
    for entry in described["filters"]:
        add_filter(again, entry)
    assert dataset_properties(again) == described


@pytest.mark.parametrize(
    "described",
    [
        {"layout": {"class": "H5D_COMPACT"}},
        {"allocTime": "H5D_ALLOC_TIME_EARLY", "fillTime": "H5D_FILL_TIME_NEVER", "trackTimes": True},
        {"attributeCreationOrder": "H5P_CRT_ORDER_TRACKED|H5P_CRT_ORDER_INDEXED"},
    ],
)
def test_other_properties_come_back(described):
    assert dataset_properties(make_dataset_properties(described)) == described


def test_an_unknown_property_is_refused():
    with pytest.raises(ValueError, match="H5D_ALLOC_TIME_SOMETIMES"):
        make_dataset_properties({"allocTime": "H5D_ALLOC_TIME_SOMETIMES"})


def test_orders_of_a_group():
    properties = h5p.create(h5p.GROUP_CREATE)
    described = {
        "linkCreationOrder": "H5P_CRT_ORDER_TRACKED",
        "attributeCreationOrder": "H5P_CRT_ORDER_TRACKED",
    }
    set_orders(properties, described)
    assert group_properties(properties) == described
    assert [flags_of_order(order_flags(flags)) for flags in (0, 1, 3)] == [0, 1, 3]


def text(length=h5t.VARIABLE):
    tid = h5t.C_S1.copy()
    tid.set_size(length)
    return tid


def record():
    tid = h5t.create(h5t.COMPOUND, 16)
    tid.insert(b"n", 0, h5t.STD_I16BE)
    tid.insert(b"t", 8, text())
    return tid


@pytest.mark.parametrize(
    ("tid", "fill"),
    [
        (h5t.STD_I32BE, {"value": -7}),
        (h5t.IEEE_F64LE, {"value": "0x7ff8000000000000"}),
        (text(), {"value": "missing"}),
        (text(3), {"value": "no"}),
        (record(), {"value": [5, "five"]}),
        (h5t.array_create(h5t.STD_U8LE, (2,)), {"value": [1, 2]}),
        (h5t.STD_REF_OBJ, {"value": ""}),
        (h5t.vlen_create(h5t.STD_I8LE), {"value": [1, 2]}),
        (h5t.STD_I32LE, UNDEFINED),
        (h5t.STD_I32LE, None),
    ],
)
def test_fill_values(tid, fill):
    properties = h5p.create(h5p.DATASET_CREATE)
    set_fill(tid, properties, fill, None)
    with h5py.File.in_memory() as file:
        made = h5d.create(file.id, b"d", tid, h5s.create_simple((2,)), dcpl=properties)
        assert fill_to_json(tid, made.get_create_plist(), None) == fill
