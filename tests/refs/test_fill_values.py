import math

import numpy as np
import pytest

from shadowzarr.refs.fill_values import checked_fill, json_fill


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (np.array(True), True),
        (np.array(-3, ">i2"), -3),
        (np.array(1.5, ">f4"), 1.5),
        (np.array(math.nan, "<f8"), "NaN"),
        (np.array(-math.inf, "<f4"), "-Infinity"),
        (np.array(1 + 2j, ">c8"), [1.0, 2.0]),
        (np.array(b"ab", "S4"), "YWI="),
        (np.array(b"ab", "V3"), "YWIA"),
        (np.array("ö", "<U3"), "ö"),
        (np.array(5, "<M8[s]"), 5),
        (
            np.array((1, (2.5, 0)), [("a", "i1"), ("b", [("c", ">f8"), ("d", "u1")])]),
            {"a": 1, "b": {"c": 2.5, "d": 0}},
        ),
    ],
    ids=str,
)
def test_values_of_numpy(value, form):
    found = json_fill(value)
    assert found == form
    assert type(found) is type(form)


def test_a_nan_with_a_payload_is_written_in_hexadecimal():
    value = np.array(0x7FC00001, "<u4").view("<f4")
    assert json_fill(value) == "0x7fc00001"


def test_nothing_is_zero():
    assert checked_fill("complex64", None) == [0, 0]


def test_a_type_that_only_zarr_knows_is_left_to_it():
    assert checked_fill("int7", "whatever") == "whatever"
