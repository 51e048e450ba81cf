"""Documents of every format version that was written stay readable, with the values they had."""

import base64
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from shadowzarr import RfsStore, decode_attributes, load_rfs, open_rfs
from shadowzarr.testing.range_server import RangeServer

HERE = Path(__file__).parent
FOLDERS = sorted(path for path in HERE.iterdir() if (path / "expected.json").is_file())
WRITTEN = ("listed.shadowzarr.json", "selected.shadowzarr.json", "directory.shadowzarr")
VERSIONS = {"listed.shadowzarr.json": 1, "selected.shadowzarr.json": 2, "directory.shadowzarr": 2}


def attribute(value):
    if isinstance(value, dict) and set(value) == {"bytes"}:
        return base64.b64decode(value["bytes"])
    if isinstance(value, dict) and set(value) == {"number"}:
        return float(value["number"])
    if isinstance(value, dict):
        return {key: attribute(item) for key, item in value.items()}
    return [attribute(item) for item in value] if isinstance(value, list) else value


def read_expected(folder):
    return json.loads((folder / "expected.json").read_text())


def check_array(array, expected):
    assert array.shape == tuple(expected["shape"])
    values = np.asarray(array[...])
    if expected["dtype"] == "string":
        assert values.tolist() == expected["values"]
        return
    assert values.dtype.name == expected["dtype"]
    want = np.array(attribute(expected["values"]), dtype=expected["dtype"]).reshape(array.shape)
    np.testing.assert_array_equal(values, want)


def check(root, folder, *, left_out=()):
    expected = read_expected(folder)
    names = {name for name, node in root.members(max_depth=None) if hasattr(node, "shape")}
    assert names == set(expected["arrays"]) - {"plain", "whole", *left_out}
    for path in names:
        check_array(root[path], expected["arrays"][path])
    for path, attributes in expected["attributes"].items():
        decoded = decode_attributes((root[path] if path else root).attrs)
        np.testing.assert_equal(decoded, attribute(attributes))
        assert {k: type(v) for k, v in decoded.items()} == {
            k: type(v) for k, v in attribute(attributes).items()
        }


def test_there_are_golden_documents():
    assert [folder.name for folder in FOLDERS] == ["format-1"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("strict_json", [False, True])
@pytest.mark.parametrize("name", WRITTEN)
def test_on_disk(folder, name, strict_json):
    rfs = load_rfs(folder / name)
    assert rfs["version"] == VERSIONS[name]
    left_out = ["columns"] if rfs["version"] == 1 else []
    check(open_rfs(rfs, strict_json=strict_json), folder, left_out=left_out)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("name", WRITTEN)
def test_moved_behind_a_server(folder, name, tmp_path):
    shutil.copytree(folder, tmp_path / "moved")
    with RangeServer(tmp_path) as server:
        root = open_rfs(server.url(f"moved/{name}"))
        check(root, folder, left_out=["columns"] if name.startswith("listed") else [])
        assert server.log.count("moved/raw.bin") > 0


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("name", WRITTEN)
async def test_every_listed_key_can_be_had(folder, name):
    from zarr.core.buffer import default_buffer_prototype

    store = RfsStore(load_rfs(folder / name))
    async for key in store.list():
        value = await store.get(key, default_buffer_prototype())
        assert value is not None
        assert await store.getsize(key) == len(value)


def test_what_the_directory_holds():
    document = json.loads((HERE / "format-1" / "directory.shadowzarr" / "refs.json").read_text())
    assert sorted(document["requires"]) == ["gen", "indexes", "selections"]
    text = json.loads(document["refs"]["text/zarr.json"])
    assert [codec["name"] for codec in text["codecs"]] == ["vlen-utf8", "zstd"]


def test_kerchunk_of_another_writer():
    folder = HERE / "format-1"
    root, expected = open_rfs(folder / "kerchunk.json"), read_expected(folder)["arrays"]
    assert set(root.keys()) == {"slabs", "plain", "whole"}
    for path in root.keys():  # noqa: SIM118 - a group is no dict
        check_array(root[path], expected[path])


def test_bare_nan_of_an_older_writer():
    folder = HERE / "format-1"
    want = {k: attribute(v) for k, v in read_expected(folder)["attributes"][""].items()}
    for strict_json in (False, True):
        decoded = decode_attributes(open_rfs(folder / "bare-nan.json", strict_json=strict_json).attrs)
        np.testing.assert_equal(decoded, {name: want[name] for name in ("nan", "bounds", "text")})
