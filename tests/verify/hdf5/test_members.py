"""Datasets that are groups, and region references: what is right, and every way in which they are wrong."""

import base64
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numcodecs import VLenUTF8

from shadowzarr import generate_rfs, verify_rfs
from shadowzarr.verify import mappings


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("members") / "file.h5"
    table = np.dtype([("n", "<i4"), ("v", h5py.vlen_dtype("i4")), ("t", h5py.string_dtype(), (2,))])
    with h5py.File(path, "w") as f:
        f["x"], f["y"] = np.arange(12).reshape(3, 4), np.arange(3)
        rows = np.zeros(3, table)
        rows["n"] = [1, 2, 3]
        for number, part in enumerate([[1], [], [2, 3]]):
            rows["v"][number] = np.array(part, "i4")
        rows["t"] = [["a", "b"], ["c", "d"], ["e", "f"]]
        f["table"] = rows
        deep = f.create_dataset("deep", (2,), h5py.vlen_dtype(h5py.vlen_dtype("i4")))
        inner = np.empty(2, object)
        inner[:] = [np.array([1, 2], "i4"), np.array([3], "i4")]
        deep[1] = inner
        regions = f.create_dataset("regions", (2,), h5py.regionref_dtype)
        regions[0] = f["x"].regionref[:2, 1:3]
        f["arrays"] = np.array([(1, [[1, 2], [3, 4]])] * 2, [("a", "<i2"), ("m", "<i4", (2, 2))])
        f.attrs["region"] = f["x"].regionref[0, :2]
    return path


def document(original: Path) -> dict[str, Any]:
    return generate_rfs(original, hdf5_section=False)


def differences(rfs: dict[str, Any], original: Path) -> list[str]:
    return sorted({each.path.lstrip("/") for each in verify_rfs(rfs, original, mode="full").differences})


def set_chunk(rfs: dict[str, Any], key: str, data: bytes) -> None:
    assert key in rfs["refs"]
    rfs["refs"][key] = "base64:" + base64.b64encode(data).decode()


def set_texts(rfs: dict[str, Any], key: str, texts: list[str]) -> None:
    items = np.empty(len(texts), object)
    items[:] = texts
    set_chunk(rfs, key, VLenUTF8().encode(items))


def change_metadata(rfs: dict[str, Any], path: str, name: str, value: Any) -> None:
    key = f"{path}/zarr.json" if path else "zarr.json"
    metadata = json.loads(rfs["refs"][key])
    metadata["attributes"][name] = value
    rfs["refs"][key] = json.dumps(metadata)


def test_what_is_right_is_counted(original: Path) -> None:
    report = verify_rfs(document(original), original, mode="full")
    assert report.differences == []
    assert report.left_out == []
    for row in ("RAGGED_GROUP", "COMPOUND_COLUMNS", "REGION_REFERENCE", "ARRAY_FIELD"):
        assert report.mappings[getattr(mappings, row)] >= 1


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("table/n/c/0", [1, 2, 4]),
        ("table/v/values/c/0", [1, 2, 4]),
        ("deep/values/values/c/0", [1, 2, 4]),
    ],
)
def test_a_wrong_number(original: Path, key: str, values: list[int]) -> None:
    rfs = document(original)
    set_chunk(rfs, key, np.array(values, "<i4").tobytes())
    assert differences(rfs, original) == [key.partition("/")[0]]


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("table/v/offsets/c/0", [0, 1, 2, 3]),
        ("table/v/offsets/c/0", [0, 1, 1, 2]),
        ("deep/offsets/c/0", [0, 1, 2]),
        ("deep/values/offsets/c/0", [0, 1, 3]),
        ("deep/offsets/c/0", [1, 0, 2]),
    ],
)
def test_wrong_offsets(original: Path, key: str, values: list[int]) -> None:
    rfs = document(original)
    set_chunk(rfs, key, np.array(values, "<u8").tobytes())
    assert differences(rfs, original) == [key.partition("/")[0]]


def test_wrong_text_in_a_field(original: Path) -> None:
    rfs = document(original)
    set_texts(rfs, "table/t/c/0/0", ["a", "b", "c", "d", "e", "g"])
    assert differences(rfs, original) == ["table"]


def test_a_wrong_number_in_an_array_of_a_compound(original: Path) -> None:
    rfs = document(original)
    rows = np.array([(1, [1, 2, 3, 4]), (1, [1, 2, 4, 3])], [("a", "<i2"), ("m", "<i4", (4,))])
    set_chunk(rfs, "arrays/c/0", rows.tobytes())
    assert differences(rfs, original) == ["arrays"]


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("table", "_COLUMNS", {"shape": [3], "fields": []}),
        ("table", "_COLUMNS", {"shape": [1, 3]}),
        ("table/v", "_RAGGED", {"shape": [1, 3]}),
        ("table/t", "_DTYPE", "object"),
        ("deep/values/offsets", "more", 1),
        ("arrays", "_ARRAY_FIELDS", [{"field": ["m"], "shape": [4]}]),
        ("regions", "_DTYPE", "object_reference"),
    ],
)
def test_wrong_marks(original: Path, path: str, name: str, value: Any) -> None:
    rfs = document(original)
    change_metadata(rfs, path, name, value)
    assert [each.partition("@")[0] for each in differences(rfs, original)] == [path.partition("/")[0]]


def test_a_member_that_is_missing_or_one_too_many(original: Path) -> None:
    rfs = document(original)
    rfs["refs"] = {key: value for key, value in rfs["refs"].items() if not key.startswith("table/n/")}
    assert differences(rfs, original) == ["table"]
    rfs = document(original)
    rfs["refs"]["deep/more/zarr.json"] = rfs["refs"]["deep/offsets/zarr.json"]
    assert differences(rfs, original) == ["deep"]


GOOD = {"id": "/x", "select_type": "H5S_SEL_HYPERSLABS", "selection": [[[0, 1], [1, 2]]]}


@pytest.mark.parametrize(
    "change",
    [
        {"id": "/y"},
        {"id": "/nowhere"},
        {"id": 1},
        {"select_type": "H5S_SEL_POINTS"},
        {"selection": [[[0, 1], [1, 3]]]},
        {"selection": []},
        {"more": 1},
    ],
)
def test_wrong_regions(original: Path, change: dict[str, Any]) -> None:
    rfs = document(original)
    set_texts(rfs, "regions/c/0", [json.dumps(GOOD), ""])
    assert differences(rfs, original) == []
    set_texts(rfs, "regions/c/0", [json.dumps(GOOD | change), ""])
    assert differences(rfs, original) == ["regions"]


@pytest.mark.parametrize("texts", [["", ""], ["/x", ""], [json.dumps(GOOD), json.dumps(GOOD)]])
def test_regions_that_are_none(original: Path, texts: list[str]) -> None:
    rfs = document(original)
    set_texts(rfs, "regions/c/0", texts)
    assert differences(rfs, original) == ["regions"]


@pytest.mark.parametrize(
    "value",
    [
        {"_REFERENCE": {"source": ".", "path": "/x"}},
        {
            "_REFERENCE": {
                "source": ".",
                "path": "/y",
                "region": {"select_type": "H5S_SEL_HYPERSLABS", "selection": [[[0, 0], [0, 1]]]},
            }
        },
        {"_REFERENCE": {"source": ".", "path": "/x", "region": {"select_type": "H5S_SEL_ALL"}}},
        "",
    ],
)
def test_wrong_regions_in_attributes(original: Path, value: Any) -> None:
    rfs = document(original)
    change_metadata(rfs, "", "region", value)
    assert differences(rfs, original) == ["@region"]
