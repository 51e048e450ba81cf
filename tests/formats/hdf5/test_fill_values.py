from typing import Any

import numpy as np
import pytest
from h5py import h5d, h5p

from shadowzarr.formats.hdf5.fill_values import is_shown, json_fill, stored_fill
from shadowzarr.formats.hdf5.reasons import CannotRepresentError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.bool_(True), True),
        (np.int64(-(2**63)), -(2**63)),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float32(0.5), 0.5),
        (np.float64("nan"), "NaN"),
        (np.array(np.nan, ">f4"), "NaN"),
        (np.float16("-inf"), "-Infinity"),
        (np.float64("inf"), "Infinity"),
        (np.array(0x7FC00001, "u4").view("f4"), "0x7fc00001"),
        (np.array(0xFFC0, "u2").view("f2") if False else np.array(0xFE00, "u2").view("f2"), "0xfe00"),
        (np.complex64(1 - 2j), [1.0, -2.0]),
        (np.array(complex("nan+1j"), ">c16"), ["NaN", 1.0]),
        (np.void(b"ab"), "YWI="),
        (np.array(b"a", "S3"), "YQ=="),
        (np.array("µ", "U3"), "µ"),
        (np.array(5, "<M8[s]"), 5),
        (np.array((1, np.nan), [("x", ">i2"), ("y", "<f4")]), {"x": 1, "y": "NaN"}),
        (np.array(((3,), True), [("in", [("x", "u1")]), ("b", "?")]), {"in": {"x": 3}, "b": True}),
    ],
)
def test_json_forms(value: Any, expected: Any) -> None:
    assert json_fill(value) == expected


def properties(value: Any = None, time: int | None = None) -> h5p.PropDCID:
    made = h5p.create(h5p.DATASET_CREATE)
    if value is not None:
        made.set_fill_value(value)
    if time is not None:
        made.set_fill_time(time)
    return made


def test_the_user_s_value_is_shown() -> None:
    made = properties(np.array(258, ">i2"))
    assert is_shown(made)
    assert stored_fill(made, np.dtype(">i2")) == 258


def test_zero_when_there_is_none_or_it_is_never_written() -> None:
    assert stored_fill(properties(), np.dtype("f4")) == 0
    assert stored_fill(properties(np.array(7, "i4"), h5d.FILL_TIME_NEVER), np.dtype("i4")) == 0


def test_a_compound() -> None:
    value = np.array((1, 2.5), [("a", "<i4"), ("b", "<f8")])
    assert json_fill(stored_fill(properties(value), value.dtype)) == {"a": 1, "b": 2.5}


def test_elements_that_differ_have_no_form() -> None:
    dtype = np.dtype(("<i4", (2,)))
    made = h5p.create(h5p.DATASET_CREATE)
    made.set_fill_value(np.array(7, "<i4"))
    with pytest.raises(CannotRepresentError):
        stored_fill(made, dtype)
