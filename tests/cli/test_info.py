"""``shadowzarr info`` of documents that claim much: counted by arithmetic, and refused by name."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from shadowzarr import RfsBuilder, write_rfs
from shadowzarr.cli import main
from shadowzarr.testing import RangeServer

RULE = {"key": "a/c/{{i}}", "url": "raw.bin", "offset": "{{i}}", "length": "1"}


def document(path, **changes):
    """One array whose chunks a rule gives."""
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("a", shape=[2**62], data_type="uint8", chunk_shape=[1])
    made = {
        **builder.build(),
        "version": 2,
        "gen": [{**RULE, "dimensions": {"i": {"stop": 10**18}}}],
        **changes,
    }
    path.write_text(json.dumps(made))
    return str(path)


def info(capsys, *arguments):
    code = main(["info", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_rule_for_a_million_million_million_chunks(tmp_path, capsys):
    refs = document(tmp_path / "d.json")
    code, out, _ = info(capsys, refs)
    assert code == 0
    assert "evenly spaced" in out
    code, out, _ = info(capsys, refs, "a")
    assert code == 0
    assert "4,611,686,018,427,387,904 chunks" in out
    assert "by rules    1,000,000,000,000,000,000 chunks, too many to be shown" in out
    code, out, _ = info(capsys, refs, "a", "--json")
    assert json.loads(out)["places"]["unlisted_chunks"] == 10**18


def test_an_explicit_reference_is_counted_once(tmp_path, capsys):
    rule = {**RULE, "dimensions": {"i": {"stop": 5}}}
    refs = json.loads(Path(document(tmp_path / "d.json")).read_text())["refs"]
    path = document(tmp_path / "d.json", gen=[rule], refs={**refs, "a/c/3": ["raw.bin", 9, 1]})
    places = json.loads(info(capsys, path, "a", "--json")[1])["places"]
    assert (places["stored_chunks"], places["unlisted_chunks"]) == (5, 0)


def test_an_index_behind_a_url_is_read_by_our_own_reader(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("a", shape=[70_000, 2], data_type="uint8", chunk_shape=[1, 2])
    index = np.stack([np.arange(70_000) * 2, np.full(70_000, 2)], axis=-1).astype(np.uint64)
    index[7] = 2**64 - 1
    builder.add_index("a", str(tmp_path / "raw.bin"), index.reshape(70_000, 1, 2))
    write_rfs(builder.build(), tmp_path / "x")
    with RangeServer(tmp_path) as server:
        code, out, err = info(capsys, server.url("x"), "a", "--json")
        assert (code, out) == (1, "")
        assert "--allow-local-files" in err
        server.log.clear()
        code, out, err = info(capsys, server.url("x"), "a", "--json", "--allow-local-files")
        assert (code, err) == (0, "")
        paths = [entry.path for entry in server.log]
    assert sum("/index/" in path for path in paths) == 2
    places = json.loads(out)["places"]
    assert (places["stored_chunks"], places["stored_bytes"], places["pieces"]) == (69_999, 139_998, 2)


def test_an_index_that_lists_what_no_file_has(tmp_path, capsys):
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("a", shape=[2], data_type="uint8", chunk_shape=[1])
    builder.add_index("a", "raw.bin", np.array([[0, 1], [2**63, 1]], np.uint64))
    write_rfs(builder.build(), tmp_path / "x")
    code, _, err = info(capsys, str(tmp_path / "x"), "a")
    assert code == 1
    assert err.splitlines()[-1] == (
        "shadowzarr: error: the chunk index of array '/a' lists 1 bytes at 9223372036854775808, "
        "which no file has"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": [-1]}, "array '/a' has shape [-1] in its zarr.json; expected a list of extents"),
        ({"chunk_grid": {"name": "regular"}}, "array '/a' has no chunk_shape"),
        ({"codecs": "bytes"}, "array '/a' has codecs \"bytes\""),
        ({"node_type": None}, "node '/a' has no node_type"),
    ],
)
def test_metadata_that_is_none_is_named(tmp_path, capsys, changes, message):
    refs = json.loads(Path(document(tmp_path / "d.json")).read_text())["refs"]
    refs["a/zarr.json"] = json.dumps({**json.loads(refs["a/zarr.json"]), **changes})
    for arguments in ([], ["a"], ["--json"]):
        code, out, err = info(capsys, document(tmp_path / "d.json", refs=refs), *arguments)
        assert (code, out) == (1, "")
        assert message in err


def test_what_readers_may_not_know_is_shown(tmp_path, capsys):
    refs = json.loads(Path(document(tmp_path / "d.json")).read_text())["refs"]
    changes = {
        "chunk_grid": {"name": "rectilinear", "configuration": {"chunk_shapes": [[1, 2]]}},
        "codecs": ["bytes", {"name": "magic"}],
        "data_type": {"name": "struct", "configuration": {"fields": [["a", "int8"]]}},
        "attributes": {"_LINKS": [5, {"name": [], "path": "/"}]},
    }
    refs["a/zarr.json"] = json.dumps({**json.loads(refs["a/zarr.json"]), **changes})
    code, out, _ = info(capsys, document(tmp_path / "d.json", refs=refs))
    assert code == 0
    assert "chunks of a grid rectilinear  magic" in out


def test_groups_in_groups_of_any_depth(tmp_path, capsys):
    group = json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}})
    refs = {"/".join(["g"] * depth + ["zarr.json"]): group for depth in range(2000)}
    code, out, _ = info(capsys, document(tmp_path / "d.json", refs=refs, gen=[]))
    assert code == 0
    assert out.count("g/\n") == 1999


def test_a_file_that_is_no_references_is_named_as_such(tmp_path, capsys):
    (tmp_path / "notes.nwb").write_text("hello")
    code, out, err = info(capsys, str(tmp_path / "notes.nwb"))
    assert (code, out) == (1, "")
    assert "notes.nwb is not JSON (" in err
    assert "so that it is no references; expected a .json file that generate wrote, or a directory" in err
