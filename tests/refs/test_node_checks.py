import json

import pytest

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.refs.node_checks import LARGEST, check_node, is_count, parse_node
from shadowzarr.refs.zarr_metadata import array_metadata, group_metadata

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
ARRAY = array_metadata(shape=[4, 0], data_type="int8", chunk_shape=[2, 1], codecs=[BYTES], fill_value=0)


def regular(*edges):
    return {"name": "regular", "configuration": {"chunk_shape": list(edges)}}


def test_good_nodes_pass():
    check_node(group_metadata({"a": 1}), "")
    check_node({"node_type": "group"}, "")
    check_node({"node_type": "group", "attributes": None}, "")
    check_node(ARRAY, "a")
    check_node({**ARRAY, "chunk_grid": regular(2, 0)}, "a")  # zarr wrote 0 for an axis of 0
    check_node({**ARRAY, "shape": [2**62, 1], "codecs": ["bytes"], "data_type": {"name": "x"}}, "a")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"node_type": "tree"},
            r"node '/a/b' has node_type \"tree\" in its zarr.json; expected group or arr",
        ),
        ({"attributes": [1]}, r"array '/a/b' has attributes \[1\].*an object"),
        ({"shape": None}, "has no shape"),
        ({"shape": [-1, 5]}, r"has shape \[-1, 5\]"),
        ({"shape": [True, 1]}, r"has shape \[true, 1\]"),
        ({"shape": [1.0, 1]}, r"has shape \[1.0, 1\]"),
        ({"shape": [2**63, 1]}, r"has shape \[9223372036854775808, 1\]"),
        ({"shape": "44"}, 'has shape "44"'),
        ({"chunk_grid": 5}, "has chunk_grid 5"),
        ({"chunk_grid": {"name": "regular"}}, "has no chunk_shape.*expected 2 edges"),
        ({"chunk_grid": {"name": "regular", "configuration": 1}}, "has chunk_grid"),
        ({"chunk_grid": regular(2)}, r"has chunk_shape \[2\].*expected 2 edges"),
        ({"chunk_grid": regular(-2, 1)}, r"has chunk_shape \[-2, 1\]"),
        ({"chunk_grid": regular(0, 1)}, r"has chunk_shape \[0, 1\].*at least 1"),
        ({"data_type": 7}, "has data_type 7"),
        ({"data_type": {"configuration": {}}}, "has data_type"),
        ({"codecs": []}, r"has codecs \[\]"),
        ({"codecs": [5]}, "has codec 5"),
        ({"codecs": [{"name": "bytes", "configuration": [1]}]}, "has codec"),
    ],
)
def test_bad_nodes_are_named_with_the_cause(change, message):
    with pytest.raises(InvalidReferencesError, match=message):
        check_node({**ARRAY, **change}, "a/b")


def test_a_message_shows_little_of_a_large_value():
    with pytest.raises(InvalidReferencesError) as caught:
        check_node({**ARRAY, "shape": ["x" * 10_000]}, "a")
    assert len(str(caught.value)) < 250


def test_counts():
    assert all(map(is_count, (0, 1, LARGEST)))
    assert not any(map(is_count, (-1, LARGEST + 1, True, 1.0, "1", None)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"refs\['a/zarr.json'\] is not JSON"),
        (b"\xff", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"a":' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deeply"),
    ],
)
def test_what_is_no_object(text, message):
    with pytest.raises(InvalidReferencesError, match=message):
        parse_node(text, "a/zarr.json")


def test_bare_nan_is_read():
    assert json.dumps(parse_node('{"a":[NaN]}', "zarr.json")) == '{"a": [NaN]}'
