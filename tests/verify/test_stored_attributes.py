"""The second reading of stored attributes agrees with the library's own, and sees what is wrong."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.attributes import bytes_attributes, encode_attributes, non_finite
from shadowzarr.verify.stored_attributes import BYTES_UUID, NON_FINITE_UUID, decode, strict_json

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.sampled_from(["NaN", "_str_NaN", "base64:AA==", "_str_base64:", "-Infinity"])
)
values = st.recursive(scalars, lambda each: st.lists(each) | st.dictionaries(st.text(), each), max_leaves=6)


def same(one, other):
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return set(one) == set(other) and all(same(one[name], other[name]) for name in one)
    return type(one) is type(other) and one == other


@given(st.dictionaries(st.text().filter(lambda name: name != "zarr_conventions"), values))
def test_what_the_library_encodes_is_decoded(attributes):
    decoded = decode(encode_attributes(attributes))
    assert same(decoded.values, attributes)
    assert decoded.complaint == ""


def test_the_registered_names_are_those_of_the_conventions():
    assert non_finite.NON_FINITE.uuid == NON_FINITE_UUID
    assert bytes_attributes.BYTES.uuid == BYTES_UUID


def test_encoded_values_are_counted():
    decoded = decode(encode_attributes({"a": [math.nan, math.inf, "NaN"], "b": b"\xff"}))
    assert (decoded.non_finite, decoded.encoded_bytes) == (2, 1)


def test_a_node_without_registration_is_not_decoded():
    assert decode({"a": "NaN", "b": "_str_NaN"}).values == {"a": "NaN", "b": "_str_NaN"}


@pytest.mark.parametrize(
    "entries",
    [[{"uuid": NON_FINITE_UUID}], [{"uuid": "unknown"}], [{"name": "no uuid"}], ["text"]],
)
def test_a_registration_that_nothing_needs_is_reported(entries):
    assert decode({"a": 1, "zarr_conventions": entries}).complaint


def test_a_registration_twice_is_reported():
    entry = {"uuid": NON_FINITE_UUID}
    assert decode({"a": "NaN", "zarr_conventions": [entry, entry]}).complaint


def test_base64_that_is_none_is_an_error():
    with pytest.raises(ValueError):
        decode({"a": "base64:***", "zarr_conventions": [{"uuid": BYTES_UUID}]})


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', '{"a": -Infinity}', '{"a": 1, "a": 2}', "{", '{"a": Infinity}']
)
def test_json_that_is_not_strict(text):
    with pytest.raises(ValueError):
        strict_json(text)
    assert strict_json('{"a": [1, 2.5, "NaN"]}') == {"a": [1, 2.5, "NaN"]}
