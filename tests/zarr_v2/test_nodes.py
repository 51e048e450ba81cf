"""Keys of a Zarr v2 store, taken apart."""

import json

import pytest

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.zarr_v2 import nodes_of

GROUP = '{"zarr_format": 2}'


def array(shape, chunks, **more):
    return json.dumps({"shape": shape, "chunks": chunks, "dtype": "<i2", **more})


def test_groups_arrays_attributes_and_chunks():
    refs = {
        ".zgroup": GROUP,
        ".zattrs": '{"a": NaN}',
        "g/.zgroup": GROUP,
        "g/x/.zarray": array([4, 4], [2, 2]),
        "g/x/.zattrs": '{"unit": "mV"}',
        "g/x/0.1": ["f", 0, 8],
        "g/x/1.1": "base64:AAAAAAAAAAA=",
        "g/x/README": "no chunk",
        "g/x/1": ["f", 0, 8],
        "elsewhere/0": ["f", 0, 8],
    }
    nodes = nodes_of(refs, "it")
    assert list(nodes) == ["", "g", "g/x"]
    assert nodes["g/x"].attributes == {"unit": "mV"}
    assert nodes["g/x"].chunks == {(0, 1): ["f", 0, 8], (1, 1): "base64:AAAAAAAAAAA="}
    assert nodes[""].attributes["a"] != nodes[""].attributes["a"]  # NaN


def test_chunk_keys_with_slashes_and_of_a_scalar():
    refs = {
        "x/.zarray": array([4, 4], [2, 2], dimension_separator="/"),
        "x/1/0": ["f", 0, 8],
        "s/.zarray": array([], []),
        "s/0": "AB",
    }
    nodes = nodes_of(refs, "it")
    assert nodes["x"].chunks == {(1, 0): ["f", 0, 8]}
    assert nodes["s"].chunks == {(): "AB"}
    assert nodes[""].zarray is None


def test_consolidated_metadata_give_what_has_no_key():
    consolidated = {"metadata": {".zgroup": {"zarr_format": 2}, "x/.zarray": json.loads(array([2], [2]))}}
    refs = {".zmetadata": json.dumps(consolidated), "x/0": "AB", "x/.zattrs": '{"own": 1}'}
    nodes = nodes_of(refs, "it")
    assert nodes["x"].attributes == {"own": 1}
    assert nodes["x"].chunks == {(0,): "AB"}


@pytest.mark.parametrize(
    ("refs", "reason"),
    [
        ({"a": "b"}, "holds neither .zgroup nor .zarray"),
        ({"zarr.json": "{}"}, r"has keys of Zarr v3 \(zarr.json\); LINDI's files have keys of Zarr v2"),
        ({".zgroup": "{"}, "'.zgroup' is not JSON"),
        ({".zgroup": "[]"}, "expected a JSON object"),
        ({".zgroup": ["file", 0, 3]}, "in a file of its own"),
    ],
)
def test_what_is_no_store_is_named(refs, reason):
    with pytest.raises(InvalidReferencesError, match=reason):
        nodes_of(refs, "it")
