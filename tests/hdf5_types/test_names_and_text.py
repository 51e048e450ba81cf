"""Names and text as bytes and as JSON: every case there and back, literally."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.hdf5_types.names import name_to_text, path_to_text, text_to_name, text_to_path
from shadowzarr.hdf5_types.text import json_to_bytes, pad, text_to_json, unpad


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (b"plain", "plain"),
        ("日本".encode(), "日本"),
        (b"caf\xe9", "hex:636166e9"),
        (b"hex:61", "hex:6865783a3631"),
    ],
)
def test_a_name(name, text):
    assert name_to_text(name) == text
    assert text_to_name(text) == name


def test_a_path_has_each_name_by_itself():
    assert path_to_text(b"/a/caf\xe9/b") == "/a/hex:636166e9/b"
    assert text_to_path("/a/hex:636166e9/b") == b"/a/caf\xe9/b"


@given(st.binary())
def test_any_name_comes_back(name):
    assert text_to_name(name_to_text(name)) == name


@given(st.binary())
def test_any_text_comes_back(data):
    assert json_to_bytes(text_to_json(data)) == data


@pytest.mark.parametrize(
    ("padding", "stored", "says"),
    [
        ("H5T_STR_NULLTERM", b"ab\0cd\0", b"ab"),
        ("H5T_STR_NULLPAD", b"a\0b\0\0\0", b"a\0b"),
        ("H5T_STR_SPACEPAD", b"ab    ", b"ab"),
        ("H5T_STR_SPACEPAD", b"\0\0    ", b"\0\0"),
    ],
)
def test_padding(padding, stored, says):
    assert unpad(stored, padding) == says
    assert unpad(pad(says, 6, padding), padding) == says


def test_text_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="text of 3 bytes in a datatype of 2"):
        pad(b"abc", 2, "H5T_STR_NULLPAD")
