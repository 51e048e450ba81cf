import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest

from shadowzarr import load_rfs, open_rfs, write_rfs
from shadowzarr.errors import InvalidReferencesError, ReadError, SourceNotFoundError, UsageError
from shadowzarr.store.load_rfs import document_location
from shadowzarr.testing.range_server import RangeServer


def test_both_forms_read_alike(recording, tmp_path):
    rfs = recording.build().build()
    write_rfs(rfs, tmp_path / "out.shadowzarr")
    write_rfs(rfs, tmp_path / "out.shadowzarr.json")
    for source in (rfs, tmp_path / "out.shadowzarr", str(tmp_path / "out.shadowzarr.json")):
        root = open_rfs(source)
        np.testing.assert_array_equal(root["slabs"][:], recording.data)
        np.testing.assert_array_equal(root["group/indexed"][:], recording.indexed())
        np.testing.assert_array_equal(root["columns"][:], recording.data[:, [5, 1, 2]])
        assert math.isnan(root.attrs["resolution"])


def test_a_loaded_document_stands_by_itself(recording, tmp_path):
    write_rfs(recording.build().build(), tmp_path / "out.shadowzarr")
    rfs = load_rfs(tmp_path / "out.shadowzarr")
    assert "templates" not in rfs
    assert rfs["gen"][0]["url"] == str(recording.path)
    index = rfs["indexes"]["group/indexed"]["index"]
    assert index.startswith(str(tmp_path / "out.shadowzarr" / "index"))


def test_loading_reads_the_document_alone(recording, tmp_path):
    write_rfs(recording.build().build(), tmp_path / "out.shadowzarr")
    with RangeServer(tmp_path) as server:
        rfs = load_rfs(server.url("out.shadowzarr"), allow_local_files=True)
        assert [entry.path for entry in server.log] == ["/out.shadowzarr/refs.json"]
        assert rfs["indexes"]["group/indexed"]["index"].startswith(server.url("out.shadowzarr/index/"))


def test_a_relative_path_is_taken_from_here(recording, tmp_path, monkeypatch):
    write_rfs(recording.build().build(), tmp_path / "out.shadowzarr")
    monkeypatch.chdir(tmp_path)
    rfs = load_rfs("out.shadowzarr")
    assert Path(rfs["indexes"]["group/indexed"]["index"]).is_absolute()


RELATIVE = {
    "version": 1,
    "templates": {"u0": "raw.bin", "d": "sub", "w": "https://other/x.bin"},
    "refs": {
        "zarr.json": '{"zarr_format":3,"node_type":"group","attributes":{}}',
        "a/zarr.json": {"zarr_format": 3, "node_type": "group", "attributes": {}},
        "a/c/0": ["{{u0}}", 0, 4],
        "a/c/1": ["../{{d}}/raw.bin", 0, 4],
        "a/c/2": ["{{w}}", 0, 4],
        "a/c/3": ["plain.bin"],
    },
    "sources": {"raw.bin": {"size": 1}, "https://other/x.bin": {"size": 2}},
}


def test_relative_places_resolve_against_the_folder_of_the_document(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "d.json").write_text(json.dumps(RELATIVE))
    refs = load_rfs(tmp_path / "in" / "d.json")["refs"]
    assert refs["a/c/0"] == [str(tmp_path / "in" / "raw.bin"), 0, 4]
    assert refs["a/c/1"] == [str(tmp_path / "sub" / "raw.bin"), 0, 4]
    assert refs["a/c/2"] == ["https://other/x.bin", 0, 4]
    assert refs["a/c/3"] == [str(tmp_path / "in" / "plain.bin")]
    with RangeServer(tmp_path) as server:
        rfs = load_rfs(server.url("in/d.json"))
        assert rfs["refs"]["a/c/0"] == [server.url("in/raw.bin"), 0, 4]
        assert rfs["refs"]["a/c/1"] == [server.url("sub/raw.bin"), 0, 4]
        assert set(rfs["sources"]) == {server.url("in/raw.bin"), "https://other/x.bin"}


def test_metadata_held_as_objects_becomes_text():
    assert json.loads(load_rfs(RELATIVE)["refs"]["a/zarr.json"])["node_type"] == "group"


def test_a_document_in_memory_is_not_changed():
    before = copy.deepcopy(RELATIVE)
    rfs = load_rfs(RELATIVE)
    assert before == RELATIVE
    assert rfs["refs"]["a/c/0"] == ["raw.bin", 0, 4]


def test_braces_in_a_source_are_its_own(recording):
    rfs = recording.build(url="https://h/{{odd}}.bin", size=5).build()
    loaded = load_rfs(rfs)
    assert set(loaded["sources"]) == {"https://h/{{odd}}.bin"}
    assert loaded["indexes"]["group/indexed"]["url"] == "https://h/{{odd}}.bin"
    assert loaded["gen"][0]["url"] == "https://h/{{odd}}.bin"


def test_bare_nan_of_older_writers_reads(tmp_path):
    attributes = '{"zarr_format":3,"node_type":"group","attributes":{"a":NaN}}'
    text = json.dumps({"version": 1, "refs": {"zarr.json": attributes}})
    (tmp_path / "d.json").write_text(text[:-1] + ', "hdf5": {"x": [NaN, -Infinity]}}')
    rfs = load_rfs(tmp_path / "d.json")
    assert math.isnan(rfs["hdf5"]["x"][0])
    assert math.isnan(open_rfs(tmp_path / "d.json").attrs["a"])


@pytest.mark.parametrize("text", ["", "{", "not json", "\x89HDF\r\n"])
def test_what_is_not_json_is_named(tmp_path, text):
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(InvalidReferencesError, match=r"d\.json is not JSON"):
        load_rfs(tmp_path / "d.json")


def test_what_is_wrong_is_said_with_the_name_of_the_file(tmp_path):
    (tmp_path / "d.json").write_text('{"version": 2, "refs": {}, "requires": ["magic"]}')
    with pytest.raises(InvalidReferencesError, match=r"d\.json requires 'magic'"):
        load_rfs(tmp_path / "d.json")


@pytest.mark.parametrize("name", ["none.json", "none.shadowzarr", "empty"])
def test_nothing_there(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceNotFoundError, match=r"no references at .*refs\.json"):
        load_rfs(tmp_path / name)
    with RangeServer(tmp_path) as server, pytest.raises(SourceNotFoundError, match="no references at"):
        load_rfs(server.url(name))


ASSET = "https://api.dandiarchive.org/api/assets/6e7e9b91-0d66-45af-b646-dfb11e4d9967/download/"


@pytest.mark.parametrize(
    ("location", "document"),
    [
        (ASSET, ASSET),
        ("https://h/x.json?a=1", "https://h/x.json?a=1"),
        ("https://h/x.shadowzarr?a=1", "https://h/x.shadowzarr/refs.json?a=1"),
        ("s3://bucket/x", "s3://bucket/x/refs.json"),
        ("/none/x.json", "/none/x.json"),
        ("/none/x", "/none/x/refs.json"),
    ],
)
def test_which_file_is_the_document(location, document):
    assert document_location(location) == document


def test_any_file_may_be_named(tmp_path):
    (tmp_path / "refs").write_text('{"version": 1, "refs": {}}')
    assert load_rfs(tmp_path / "refs")["refs"] == {}
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "folder.json" / "refs.json").write_text('{"version": 2, "refs": {}}')
    assert load_rfs(tmp_path / "folder.json")["version"] == 2


def test_messages_hold_no_query(tmp_path, impatient):
    with RangeServer(tmp_path) as server, pytest.raises(ReadError) as caught:
        load_rfs(server.url("none.json") + "?X-Amz-Signature=secret", reader=impatient)
    assert "secret" not in str(caught.value)
    (tmp_path / "bad.json").write_text("[]")
    with RangeServer(tmp_path) as server, pytest.raises(InvalidReferencesError) as refused:
        load_rfs(server.url("bad.json") + "?X-Amz-Signature=secret", reader=impatient)
    assert "secret" not in str(refused.value)


NULLS = dict.fromkeys(
    ("requires", "templates", "gen", "indexes", "selections", "sources", "skipped", "converted", "hdf5")
)


def test_null_is_the_same_as_nothing(tmp_path):
    document = {"version": 1, "refs": {}, **NULLS}
    (tmp_path / "d.json").write_text(json.dumps(document))
    assert load_rfs(tmp_path / "d.json") == {"version": 1, "refs": {}}
    assert load_rfs(document) == {"version": 1, "refs": {}}
    assert document["gen"] is None


@pytest.mark.parametrize("head", ['{"version": 1, "refs": {}, "hdf5": ', '{"version": NaN, "x": '])
def test_a_document_that_is_nested_too_deeply(tmp_path, head):
    (tmp_path / "d.json").write_text(head + "[" * 200_000 + "]" * 200_000 + "}")
    with pytest.raises(InvalidReferencesError, match=r"d\.json is nested too deeply"):
        load_rfs(tmp_path / "d.json")


def test_an_integer_of_more_than_64_bits(tmp_path):
    (tmp_path / "d.json").write_text(
        '{"version": 1, "refs": {"a": ["u", 0, 340282366920938463463374607431768211456]}}'
    )
    with pytest.raises(InvalidReferencesError, match=r"refs\['a'\] is .*expected text, \[url\] or"):
        load_rfs(tmp_path / "d.json")


def test_a_template_that_makes_a_wrong_url(tmp_path):
    document = {"version": 1, "templates": {"u": "http://"}, "refs": {"a": ["{{u}}[", 0, 1]}}
    (tmp_path / "d.json").write_text(json.dumps(document))
    with pytest.raises(InvalidReferencesError, match=r"'http://\[' is no URL"):
        load_rfs(tmp_path / "d.json")


def test_a_location_that_cannot_be_taken_apart():
    with pytest.raises(UsageError, match=r"'http://\[' is no URL"):
        load_rfs("http://[")
