"""``.zarray`` as ``zarr.json`` says it, and what is refused."""

import base64

import numpy as np
import pytest

from shadowzarr.zarr_v2 import NoV3FormError, to_v3
from shadowzarr.zarr_v2.data_types import dtype_of, v3_fill


def zarray(**changes):
    return {"shape": [4, 6], "chunks": [2, 6], "dtype": "<i2", "fill_value": 0, "order": "C"} | changes


def test_an_array():
    array = to_v3(zarray(fill_value=-1))
    assert (array.shape, array.chunk_shape, array.data_type, array.fill_value) == (
        (4, 6),
        (2, 6),
        "int16",
        -1,
    )
    assert array.codecs == [{"name": "bytes", "configuration": {"endian": "little"}}]
    assert array.grid == (2, 1)


def test_chunks_outside_of_the_grid_are_passed_over():
    chunks = {(0, 0): ["f", 0, 24], (2, 0): ["f", 24, 24]}
    assert list(to_v3(zarray()).within(chunks)) == [(0, 0)]


@pytest.mark.parametrize(("length", "fits"), [(24, True), (12, False), (25, False)])
def test_a_plain_chunk_has_its_length(length, fits):
    chunks = {(1, 0): ["f", 0, length]}
    if fits:
        to_v3(zarray()).check_lengths(chunks, "x")
    else:
        with pytest.raises(NoV3FormError, match=f"has {length} bytes; it takes 24"):
            to_v3(zarray()).check_lengths(chunks, "x")


def test_a_last_chunk_may_end_where_the_array_ends():
    array = to_v3(zarray(shape=[3, 6]))
    array.check_lengths({(1, 0): ["f", 0, 12]}, "x")
    with pytest.raises(NoV3FormError):
        array.check_lengths({(0, 0): ["f", 0, 12]}, "x")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"dtype": "|O"}, "objects without a codec"),
        ({"dtype": "|O", "filters": [{"id": "pickle"}]}, "encoded by 'pickle'"),
        ({"dtype": "|O", "filters": [{"id": "json2"}]}, "encoded by 'json2'"),
        ({"dtype": "<f16"}, "no form in Zarr v3"),
        ({"dtype": "|S0"}, "no form in Zarr v3"),
        ({"dtype": "<q17"}, "not understood"),
        ({"dtype": 5}, "not understood"),
        ({"dtype": [["a", "<i2"], ["b", ">i2"]]}, "both byte orders"),
        ({"shape": [4]}, "its chunks are"),
        ({"chunks": [0, 6]}, "are empty"),
        ({"filters": 5}, "its filters are 5"),
        ({"compressor": {"id": "zstd", "level": []}}, "is not understood"),
        ({"order": "A"}, "its order is 'A'"),
        ({"zarr_format": 3}, "zarr_format 3"),
        ({"fill_value": 70_000}, "its fill value"),
        ({"fill_value": 0.5}, "its fill value"),
        ({"fill_value": "many"}, "its fill value"),
    ],
)
def test_what_has_no_form_is_named(changes, reason):
    with pytest.raises(NoV3FormError, match=reason):
        to_v3(zarray(**changes))


def test_text_and_bytes_of_any_length():
    text = to_v3(
        zarray(dtype="|O", filters=[{"id": "vlen-utf8"}, {"id": "zlib", "level": 1}], fill_value=None)
    )
    assert text.data_type == "string"
    assert text.fill_value == ""
    assert [codec["name"] for codec in text.codecs] == ["vlen-utf8", "numcodecs.zlib"]
    assert to_v3(zarray(dtype="|O", filters=[{"id": "vlen-bytes"}])).data_type == "variable_length_bytes"


def test_a_compound():
    array = to_v3(zarray(dtype=[["x", "<u4"], ["y", [["z", "<f4"]]]], fill_value=None))
    assert array.data_type["name"] == "struct"
    assert array.dtype == np.dtype([("x", "<u4"), ("y", [("z", "<f4")])])


@pytest.mark.parametrize(
    ("dtype", "value", "fill"),
    [
        ("<f4", "NaN", "NaN"),
        ("<f4", float("nan"), "NaN"),
        ("<f8", "-Infinity", "-Infinity"),
        ("<f8", 3, 3.0),
        ("<i4", 3.0, 3),
        ("|b1", 1, True),
        ("<c8", [1.0, "NaN"], [1.0, "NaN"]),
        ("<M8[s]", "NaT", -(2**63)),
        ("<U3", "ab", "ab"),
        ("|S3", base64.b64encode(b"ab\0").decode(), base64.b64encode(b"ab").decode()),
        ("|V2", "AQI=", "AQI="),
        ("<i4", None, None),
        ("|S3", 0, None),
    ],
)
def test_fill_values(dtype, value, fill):
    assert v3_fill(dtype_of(dtype), value) == fill


def test_the_fill_value_of_a_compound():
    dtype = dtype_of([["x", "<u4"], ["y", "<f4"]])
    stored = base64.b64encode(np.array((7, np.nan), dtype).tobytes()).decode()
    assert v3_fill(dtype, stored) == {"x": 7, "y": "NaN"}
