"""Groups and arrays: every data type that zarr knows, and what is refused."""

import math

import numpy as np
import pytest
from zarr.core.dtype import data_type_registry

from shadowzarr import RfsBuilder, open_rfs
from shadowzarr.errors import UsageError

STRUCT = {
    "name": "struct",
    "configuration": {
        "fields": [
            {"name": "x", "data_type": "int32"},
            {
                "name": "when",
                "data_type": {
                    "name": "numpy.datetime64",
                    "configuration": {"unit": "us", "scale_factor": 10},
                },
            },
            {
                "name": "in",
                "data_type": {
                    "name": "struct",
                    "configuration": {"fields": [{"name": "y", "data_type": "complex64"}]},
                },
            },
        ]
    },
}
DATA_TYPES = [
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128", "string", "variable_length_bytes"),
    {"name": "raw_bytes", "configuration": {"length_bytes": 3}},
    {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}},
    {"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}},
    {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}},
    {"name": "numpy.timedelta64", "configuration": {"unit": "ms", "scale_factor": 1}},
    STRUCT,
]
TEXT_CODEC = {"string": "vlen-utf8", "variable_length_bytes": "vlen-bytes"}


def name_of(data_type):
    return data_type if isinstance(data_type, str) else data_type["name"]


def test_the_list_of_data_types_is_that_of_zarr():
    legacy = {"structured"}  # the old name of struct, which zarr reads and no longer writes
    assert set(map(name_of, DATA_TYPES)) == set(data_type_registry.contents) - legacy


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize("data_type", DATA_TYPES, ids=name_of)
def test_an_array_of_every_data_type_is_zero_where_nothing_is_written(data_type):
    builder = RfsBuilder()
    text = TEXT_CODEC.get(name_of(data_type))
    codecs = [{"name": text, "configuration": {}}] if text else None
    builder.add_array("a", shape=[3], data_type=data_type, chunk_shape=[2], codecs=codecs)
    array = open_rfs(builder.build())["a"]
    values = array[:]
    if text:
        assert values.tolist() in (["", "", ""], [b"", b"", b""])
    else:
        assert values.tobytes() == bytes(3 * array.dtype.itemsize)


@pytest.mark.parametrize(
    ("data_type", "value", "written"),
    [
        ("float32", math.nan, "NaN"),
        ("float64", -math.inf, "-Infinity"),
        ("float32", np.float32("inf"), "Infinity"),
        ("int16", np.int16(-3), -3),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("int8", 5.0, 5),
        ("bool", np.True_, True),
        ("complex64", 1 - 2j, [1, -2]),
        ("complex64", [0, "NaN"], [0, "NaN"]),
        ({"name": "raw_bytes", "configuration": {"length_bytes": 2}}, np.array(b"AB", "V2"), "QUI="),
        ("float16", "0x7e01", "0x7e01"),
    ],
)
def test_fill_values(data_type, value, written, with_array, metadata):
    found = metadata(with_array(data_type=data_type, fill_value=value).build())["fill_value"]
    assert found == written
    assert type(found) is type(written)


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        ("int8", 128),
        ("uint8", -1),
        ("int16", 1.5),
        ("bool", 1),
        ("int8", True),
        ("float32", "zero"),
        ("complex64", 1),
        ("int8", math.nan),
    ],
)
def test_fill_values_of_another_type(data_type, value, with_array):
    with pytest.raises(UsageError, match=f"array 'a': fill_value .* none of an array of {data_type}"):
        with_array(data_type=data_type, fill_value=value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": [2, 2], "chunk_shape": [0, 2]}, "chunk_shape of array 'a' is .*at least 1"),
        (
            {"chunk_shape": [1]},
            r"chunk_shape \(1,\) of array 'a' has 1 values; expected one for each of its 2 axes",
        ),
        ({"shape": [-1, 2]}, "shape of array 'a' .*negative"),
        ({"shape": [1.5, 2]}, "shape of array 'a' .*whole numbers"),
        ({"shape": [2**63, 2]}, r"shape of array 'a' .*below 2\*\*63"),
        ({"shape": 3}, "shape of array 'a' is 3; expected whole numbers"),
        ({"dimension_names": ["time"]}, "dimension_names .* of array 'a' has 1 values"),
        ({"dimension_names": "xy"}, "dimension_names of array 'a' are 'xy'"),
        ({"dimension_names": ["x", 1]}, "dimension_names of array 'a'"),
        ({"data_type": "int7"}, "data_type of array 'a': .*int7"),
        ({"data_type": {"name": "raw_bytes"}}, "data_type of array 'a'"),
        (
            {
                "data_type": {
                    "name": "struct",
                    "configuration": {"fields": [{"name": "x", "data_type": "int7"}]},
                }
            },
            "int7",
        ),
        ({"data_type": None}, "data_type of array 'a'"),
        ({"codecs": []}, "codecs of array 'a'"),
        ({"codecs": ["bytes"]}, "codecs of array 'a' hold 'bytes'"),
        ({"codecs": "bytes"}, "codecs of array 'a'"),
    ],
)
def test_arrays_that_cannot_be(options, message, with_array):
    with pytest.raises(UsageError, match=message):
        with_array(**options)


def test_numbers_of_numpy_are_numbers(with_array, metadata):
    found = metadata(with_array(shape=np.array([4, 6]), chunk_shape=np.array([2, 3], np.uint8)).build())
    assert (found["shape"], found["chunk_grid"]["configuration"]) == ([4, 6], {"chunk_shape": [2, 3]})


def test_dimension_names(with_array, metadata):
    assert metadata(with_array(dimension_names=["time", None]).build())["dimension_names"] == ["time", None]


def test_an_array_is_added_once(with_array):
    with pytest.raises(UsageError, match="'a' is an array already"):
        with_array().add_array("a", shape=[], data_type="bool", chunk_shape=[])


def test_a_group_and_an_array_of_one_name(with_array):
    builder = with_array()
    builder.add_group("g")
    with pytest.raises(UsageError, match="'g' is a group already"):
        builder.add_array("g", shape=[], data_type="bool", chunk_shape=[])
    with pytest.raises(UsageError, match="'a' is an array already"):
        builder.add_group("a")


def test_a_node_inside_an_array(with_array):
    with pytest.raises(UsageError, match="'a/b' lies inside the array 'a'"):
        with_array().add_group("a/b")


@pytest.mark.parametrize("path", ["/a", "a/", "a//b", "/", None, b"a"])
def test_paths_that_are_none(path):
    with pytest.raises(UsageError, match="path"):
        RfsBuilder().add_group(path)
    with pytest.raises(UsageError, match="path"):
        RfsBuilder().add_array(path, shape=[], data_type="bool", chunk_shape=[])


def test_attributes_of_a_node_that_is_not_there():
    with pytest.raises(UsageError, match="there is no 'a' yet"):
        RfsBuilder().set_attributes("a", {})
