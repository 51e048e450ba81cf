import json
import math
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.attributes import decode_attributes, decode_non_finite, encode_attributes

NON_FINITE_UUID = "2adc9aac-d676-4e93-8feb-903b6ae9e08a"
BYTES_UUID = "e6a456e4-34b3-4f16-9120-92f66bff2d30"


def uuids(attributes):
    return [entry["uuid"] for entry in attributes.get("zarr_conventions", [])]


def test_numbers_that_are_not_finite():
    stored = encode_attributes({"a": math.nan, "b": [math.inf, {"c": -math.inf}], "d": "NaN", "e": 1.5})
    assert uuids(stored) == [NON_FINITE_UUID]
    del stored["zarr_conventions"]
    assert stored == {"a": "NaN", "b": ["Infinity", {"c": "-Infinity"}], "d": "_str_NaN", "e": 1.5}


def test_bytes():
    stored = encode_attributes({"a": b"\xff\xfe", "b": "base64:text", "c": "_str_base64:"})
    assert uuids(stored) == [BYTES_UUID]
    del stored["zarr_conventions"]
    assert stored == {"a": "base64://4=", "b": "_str_base64:text", "c": "_str__str_base64:"}


def test_an_ordinary_node_is_written_as_it_is():
    attributes = {"a": "NaN", "b": "base64:text", "c": "_str_NaN", "d": [1, None, True]}
    assert encode_attributes(attributes) == attributes
    assert decode_attributes(attributes) == attributes


def test_registrations_of_others_stay():
    other = {"uuid": "0", "name": "another"}
    stored = encode_attributes({"zarr_conventions": [other], "a": math.inf})
    assert uuids(stored) == ["0", NON_FINITE_UUID]
    assert decode_attributes(stored) == {"zarr_conventions": [other], "a": math.inf}


def test_numpy_values_become_plain():
    stored = encode_attributes(
        {"a": np.float32(0.5), "b": np.arange(3), "c": (np.int64(2**63 - 1),), "d": np.bool_(True)}
    )
    assert stored == {"a": 0.5, "b": [0, 1, 2], "c": [2**63 - 1], "d": True}


@pytest.mark.parametrize("value", [1j, object(), {1, 2}])
def test_what_has_no_stored_form_is_named(value):
    with pytest.raises(TypeError, match="'bad'"):
        encode_attributes({"bad": [value]})


def test_the_registry_has_to_be_a_list():
    with pytest.raises(TypeError, match="zarr_conventions"):
        encode_attributes({"zarr_conventions": "text"})


def test_non_finite_alone_leaves_bytes_encoded():
    stored = encode_attributes({"a": math.nan, "b": b"x"})
    half = decode_non_finite(stored)
    assert math.isnan(half["a"])
    assert half["b"] == "base64:eA=="
    assert uuids(half) == [BYTES_UUID]


texts = st.one_of(
    st.text(max_size=5),
    st.sampled_from(
        ["NaN", "Infinity", "-Infinity", "_str_NaN", "_str__str_Infinity", "base64:", "_str_base64:eA=="]
    ),
)
leaves = st.one_of(texts, st.floats(), st.binary(max_size=4), st.integers(), st.booleans(), st.none())
values = st.recursive(
    leaves, lambda inner: st.one_of(st.lists(inner), st.dictionaries(texts, inner)), max_leaves=8
)


@given(st.dictionaries(st.text(string.ascii_lowercase, min_size=1, max_size=5), values))
def test_any_attributes_come_back_through_strict_json(attributes):
    stored = json.loads(json.dumps(encode_attributes(attributes), allow_nan=False))
    assert same(decode_attributes(stored), attributes)


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return type(a) is type(b) and a == b
