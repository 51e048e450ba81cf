import json
import math

import pytest
import zarr

from shadowzarr import RfsBuilder, RfsStore, decode_attributes, open_rfs
from shadowzarr.errors import InvalidReferencesError
from shadowzarr.store.locate import Locator
from shadowzarr.store.served_metadata import ServedMetadata

ATTRIBUTES = {"nan": math.nan, "inf": [1.0, -math.inf], "text": "NaN", "bytes": b"\xff", "plain": 1}


def document():
    builder = RfsBuilder()
    builder.add_group("", ATTRIBUTES)
    builder.add_group("b", {"plain": "base64:x"})
    builder.add_array("b/x", shape=[3], data_type="int16", chunk_shape=[3], attributes={"a": math.inf})
    zstd = {"name": "zstd", "configuration": {}}
    big = {"name": "bytes", "configuration": {"endian": "big"}}
    builder.add_array("a", shape=[3], data_type="int16", chunk_shape=[3], codecs=[big, zstd])
    return builder.build()


def served(key, *, strict_json=False, rfs=None):
    data = ServedMetadata(Locator(rfs or document()), strict_json=strict_json).get(key)
    return None if data is None else json.loads(data)


def refuse(token):
    raise AssertionError(f"{token} is not strict JSON")


def test_attributes_that_are_not_finite_are_numbers_again():
    attributes = served("zarr.json")["attributes"]
    assert math.isnan(attributes["nan"])
    assert attributes["inf"] == [1.0, -math.inf]
    assert attributes["text"] == "NaN"
    assert attributes["bytes"] == "base64:/w=="
    assert [entry["name"] for entry in attributes["zarr_conventions"]] == ["bytes-attributes"]
    assert "zarr_conventions" not in served("b/x/zarr.json")["attributes"]


def test_decoding_gives_the_same_either_way():
    for strict_json in (False, True):
        decoded = decode_attributes(served("zarr.json", strict_json=strict_json)["attributes"])
        assert math.isnan(decoded.pop("nan"))
        assert decoded == {k: v for k, v in ATTRIBUTES.items() if k != "nan"}


def test_strict_json_is_as_stored():
    rfs = document()
    metadata = ServedMetadata(Locator(rfs), strict_json=True)
    for key in ("b/zarr.json", "b/x/zarr.json", "a/zarr.json"):
        assert json.loads(metadata.get(key)) == json.loads(rfs["refs"][key])
    root = json.loads(metadata.get("zarr.json"), parse_constant=refuse)
    del root["consolidated_metadata"]
    assert root == json.loads(rfs["refs"]["zarr.json"])


def test_strict_json_of_documents_with_bare_nan():
    rfs = {
        "version": 1,
        "refs": {"zarr.json": '{"zarr_format":3,"node_type":"group","attributes":{"a":[NaN]}}'},
    }
    data = ServedMetadata(Locator(rfs), strict_json=True).get("zarr.json")
    attributes = json.loads(data, parse_constant=refuse)["attributes"]
    assert attributes["a"] == ["NaN"]
    assert math.isnan(decode_attributes(attributes)["a"][0])
    assert math.isnan(served("zarr.json", rfs=rfs)["attributes"]["a"][0])


def test_plain_arrays_read_in_parts_and_others_do_not():
    assert served("b/x/zarr.json")["codecs"] == [
        {"name": "shadowzarr.bytes", "configuration": {"endian": "little"}}
    ]
    assert [codec["name"] for codec in served("a/zarr.json")["codecs"]] == ["bytes", "zstd"]
    assert served("b/x/zarr.json", strict_json=True)["codecs"][0]["name"] == "bytes"


@pytest.mark.parametrize("strict_json", [False, True])
def test_the_root_carries_all_nodes_in_the_order_of_the_document(strict_json):
    consolidated = served("zarr.json", strict_json=strict_json)["consolidated_metadata"]
    assert consolidated["kind"] == "inline"
    assert consolidated["must_understand"] is False
    assert list(consolidated["metadata"]) == ["b", "b/x", "a"]
    for path, node in consolidated["metadata"].items():
        assert node == served(f"{path}/zarr.json", strict_json=strict_json)


def test_a_stale_copy_is_replaced():
    rfs = document()
    root = json.loads(rfs["refs"]["zarr.json"])
    rfs["refs"]["zarr.json"] = json.dumps({**root, "consolidated_metadata": {"metadata": {"gone": {}}}})
    assert "gone" not in served("zarr.json", rfs=rfs)["consolidated_metadata"]["metadata"]


@pytest.mark.parametrize(
    "change",
    [
        {"codecs": [{"name": "bytes"}, {"name": "magic", "configuration": {}}]},
        {"data_type": "int7"},
        "not JSON",
    ],
)
def test_a_node_that_zarr_does_not_understand_costs_nobody_else(change):
    rfs = document()
    node = json.loads(rfs["refs"]["a/zarr.json"])
    rfs["refs"]["a/zarr.json"] = change if isinstance(change, str) else json.dumps({**node, **change})
    assert "consolidated_metadata" not in served("zarr.json", rfs=rfs)
    root = zarr.open_group(RfsStore(rfs), mode="r")
    assert root["b/x"].shape == (3,)
    with pytest.raises(ValueError, match=r"magic|int7|refs\['a/zarr.json'\]"):
        root["a"]


@pytest.mark.parametrize("strict_json", [False, True])
def test_bare_nan_in_a_fill_value_is_spelled_out(strict_json):
    rfs = document()
    node = json.loads(rfs["refs"]["a/zarr.json"])
    rfs["refs"]["a/zarr.json"] = json.dumps({**node, "data_type": "float32", "fill_value": math.nan})
    assert served("a/zarr.json", strict_json=strict_json, rfs=rfs)["fill_value"] == "NaN"
    assert math.isnan(open_rfs(rfs, strict_json=strict_json)["a"].fill_value)


def test_text_that_is_no_utf8_survives():
    rfs = {"version": 1, "refs": {"zarr.json": '{"node_type":"group","attributes":{"a":"\\ud800é"}}'}}
    assert ServedMetadata(Locator(rfs), strict_json=False).get("zarr.json")


def test_a_node_that_is_not_there():
    assert served("none/zarr.json") is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codecs": [{"name": "magic", "configuration": {}}]}, "array '/a' cannot be opened.*magic"),
        ({"codecs": [{"name": "zstd", "configuration": {}}]}, "array '/a' cannot be opened.*ArrayBytesCodec"),
        ({"fill_value": "x"}, "array '/a' cannot be opened.*Expected an integer"),
        ({"data_type": "int7"}, "array '/a' cannot be opened.*int7"),
        ({"dimension_names": [1]}, "array '/a' cannot be opened"),
        ({"more": 1}, "array '/a' cannot be opened.*more"),
        ({"shape": [-1]}, r"array '/a' has shape \[-1\]"),
        ({"shape": [1, 2]}, r"array '/a' has chunk_shape \[3\]"),
        ({"node_type": "tree"}, "node '/a' has node_type"),
        ({"attributes": 1}, "array '/a' has attributes 1"),
    ],
)
def test_metadata_that_is_not_understood_is_an_error_of_ours(changes, message):
    rfs = document()
    rfs["refs"]["a/zarr.json"] = json.dumps({**json.loads(rfs["refs"]["a/zarr.json"]), **changes})
    root = open_rfs(rfs)
    assert root["b/x"].shape == (3,)
    with pytest.raises(InvalidReferencesError, match=message):
        root["a"]


def test_attributes_that_are_nested_too_deeply():
    deep = "[" * 5000 + "]" * 5000
    rfs = document()
    text = json.dumps({**json.loads(rfs["refs"]["a/zarr.json"]), "attributes": {"x": 0}})
    rfs["refs"]["a/zarr.json"] = text.replace('"x": 0', f'"x": {deep}')
    root = open_rfs(rfs, strict_json=True)
    with pytest.raises(InvalidReferencesError, match=r"refs\['a/zarr.json'\] is nested too deeply"):
        root["a"]


def test_what_is_no_utf8_text_is_served_so_that_zarr_reads_it():
    rfs = document()
    rfs["refs"]["zarr.json"] = '{"zarr_format":3,"node_type":"group","attributes":{"a":"\\ud800é"}}'
    assert open_rfs(rfs).attrs["a"] == "\ud800é"


def test_a_codec_that_is_its_name_alone_is_zarrs_to_judge():
    rfs = document()
    rfs["refs"]["a/zarr.json"] = json.dumps({**json.loads(rfs["refs"]["a/zarr.json"]), "codecs": ["bytes"]})
    root = open_rfs(rfs)
    with pytest.raises(InvalidReferencesError, match="array '/a' cannot be opened"):
        root["a"]
