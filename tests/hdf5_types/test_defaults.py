"""What an HDF5 object is taken to be by its Zarr side alone; a change here changes documents that exist."""

import pytest

from shadowzarr.hdf5_types.defaults import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    REFERENCE,
    TEXT,
    default_attribute,
    default_shape,
    default_type,
)
from shadowzarr.hdf5_types.types_from_json import type_from_json


def array(data_type, endian="little", **attributes):
    codecs = [{"name": "bytes", "configuration": {"endian": endian}}]
    return {"data_type": data_type, "codecs": codecs, "attributes": attributes, "shape": [2]}


@pytest.mark.parametrize(
    ("metadata", "described"),
    [
        (array("int16", "big"), {"class": "H5T_INTEGER", "base": "H5T_STD_I16BE"}),
        (array("uint8", "big"), {"class": "H5T_INTEGER", "base": "H5T_STD_U8LE"}),
        (array("float16"), {"class": "H5T_FLOAT", "base": "H5T_IEEE_F16LE"}),
        (array("bool"), BOOLEAN),
        (array("string"), TEXT),
        (array("string", _DTYPE="object_reference"), REFERENCE),
        (
            array({"name": "raw_bytes", "configuration": {"length_bytes": 3}}),
            {"class": "H5T_OPAQUE", "size": 3, "tag": ""},
        ),
        (array({"name": "numpy.datetime64", "configuration": {}}), None),
    ],
)
def test_types_of_arrays(metadata, described):
    assert default_type(metadata) == described
    if described is not None:
        type_from_json(described)


def test_a_struct_with_text_and_references():
    fields = [
        {"name": "n", "data_type": "int32"},
        {"name": "t", "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}},
        {"name": "r", "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}},
    ]
    struct = {"name": "struct", "configuration": {"fields": fields}}
    found = default_type(array(struct, _REFERENCE_FIELDS=["r"]))
    assert [field["type"] for field in found["fields"]] == [
        {"class": "H5T_INTEGER", "base": "H5T_STD_I32LE"},
        TEXT,
        REFERENCE,
    ]


def test_complex_numbers_are_the_compound_that_h5py_writes():
    part = {"class": "H5T_FLOAT", "base": "H5T_IEEE_F32BE"}
    fields = [{"name": "r", "type": part}, {"name": "i", "type": part}]
    assert default_type(array("complex64", "big")) == {"class": "H5T_COMPOUND", "fields": fields}


def test_shapes():
    assert default_shape({"shape": [], "attributes": {}}) == {"class": "H5S_SCALAR"}
    assert default_shape({"shape": [3], "attributes": {}}) == {"class": "H5S_SIMPLE", "dims": [3]}
    assert default_shape({"shape": [0], "attributes": {"_NULL_DATASPACE": True}}) == {"class": "H5S_NULL"}
    ragged = {"attributes": {"_RAGGED": {"shape": [4, 2]}}}
    assert default_shape(ragged) == {"class": "H5S_SIMPLE", "dims": [4, 2]}


@pytest.mark.parametrize(
    ("value", "type_", "dims"),
    [
        (True, BOOLEAN, None),
        (3, INTEGER, None),
        (3.0, FLOAT, None),
        ("t", TEXT, None),
        ([["a", "b"]], TEXT, [1, 2]),
        ({"_REFERENCE": {"path": "/x"}}, REFERENCE, None),
        ([], None, [0]),
        ({"field": 1}, None, None),
    ],
)
def test_attributes(value, type_, dims):
    shape = {"class": "H5S_SCALAR"} if dims is None else {"class": "H5S_SIMPLE", "dims": dims}
    assert default_attribute(value) == (type_, shape)


def test_no_value_is_a_null_dataspace():
    assert default_attribute(None) == (None, {"class": "H5S_NULL"})
