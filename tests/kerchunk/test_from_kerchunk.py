"""kerchunk's documents made ours: values equal to those of h5py, whatever the document's form."""

import base64
import json
import warnings

import h5py
import numpy as np
import pytest
import zarr

from shadowzarr import generate_rfs, kerchunk_to_rfs, open_rfs, verify_rfs, write_rfs
from shadowzarr.errors import InvalidReferencesError, UsageError

LISTED = {"attribute", "convention attribute", "dimension names"}
"""Kinds of difference that docs/interchange.md lists for documents of kerchunk's own HDF5 reader."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An HDF5 file and kerchunk's document of it."""
    path = tmp_path_factory.mktemp("kerchunk") / "x.h5"
    ramp = np.arange(12_000)
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "g/gzip", data=ramp.reshape(100, 120), chunks=(30, 50), compression="gzip", shuffle=True
        )
        file.create_dataset("big", data=ramp.astype(">i4"), chunks=(1000,))
        file.create_dataset("piece", data=ramp.astype("f4"))
        holes = file.create_dataset("holes", (3000,), "i2", chunks=(1000,), fillvalue=-3)
        holes[1000:2000] = 5
        file.create_dataset("text", data=["a", "ö"], dtype=h5py.string_dtype())
        file["scalar"] = 2.5
        file["mask"] = ramp[:30] % 2 == 0
        file["g"].attrs["unit"] = "mV"
    from kerchunk.hdf import SingleHdf5ToZarr

    with warnings.catch_warnings(action="ignore"):
        return path, SingleHdf5ToZarr(str(path), inline_threshold=0).translate()


def differences(rfs, path):
    report = verify_rfs(rfs, path, mode="full")
    return {(d.path, d.kind) for d in report.differences if d.kind not in LISTED}


def test_it_equals_the_hdf5_file_but_for_what_is_listed(made):
    path, document = made
    rfs = kerchunk_to_rfs(document)
    assert differences(rfs, path) == set()
    assert rfs["sources"] == {str(path): {"size": path.stat().st_size}}
    assert open_rfs(rfs)["g/gzip"].metadata.dimension_names == ("phony_dim_0", "phony_dim_1")


@pytest.mark.parametrize(
    "form",
    [
        lambda d: d,
        lambda d: d["refs"],
        lambda d: {
            "version": 1,
            "refs": {k: json.loads(v) if "/.z" in k or k[:2] == ".z" else v for k, v in d["refs"].items()},
        },
        lambda d: {
            "version": 1,
            "templates": {"f": "{{p}}h5"},
            "refs": {
                k: [f"{{{{f(p='{v[0][:-2]}')}}}}", *v[1:]] if isinstance(v, list) else v
                for k, v in d["refs"].items()
            },
        },
    ],
    ids=["version 1", "version 0", "objects", "templates"],
)
def test_forms_of_the_document(made, form, tmp_path):
    path, document = made
    (tmp_path / "x.json").write_text(json.dumps(form(document)))
    assert differences(kerchunk_to_rfs(tmp_path / "x.json"), path) == set()


def test_places_count_from_the_document_s_folder(made):
    path, document = made
    refs = {k: ["x.h5", *v[1:]] if isinstance(v, list) else v for k, v in document["refs"].items()}
    (path.parent / "x.json").write_text(json.dumps({"version": 1, "refs": refs}))
    assert differences(kerchunk_to_rfs(path.parent / "x.json"), path) == set()


def test_gen_entries_of_zarr_v2_keys(made):
    path, document = made
    refs = {k: v for k, v in document["refs"].items() if not k.startswith("big/") or "/.z" in k}
    with h5py.File(path) as file:
        start = file["big"].id.get_chunk_info(0).byte_offset
    rule = {"key": "big/{{i}}", "url": "{{u}}", "offset": f"{{{{{start} + i * 4000}}}}", "length": "4000"}
    gen = [{**rule, "dimensions": {"i": {"stop": 12}}}]
    rfs = kerchunk_to_rfs({"version": 1, "templates": {"u": str(path)}, "gen": gen, "refs": refs})
    assert differences(rfs, path) == set()


def test_many_chunks_become_an_index(made, tmp_path):
    path, document = made
    rfs = kerchunk_to_rfs(document, chunk_index_threshold=10)
    assert set(rfs["indexes"]) == {"big", "g/gzip"}
    write_rfs(rfs, tmp_path / "refs")
    assert differences(tmp_path / "refs", path) == set()


def test_keys_of_zarr_v3_which_we_write_ourselves(made, tmp_path):
    path, _ = made
    write_rfs(generate_rfs(path, hdf5_section=False), tmp_path / "ours.json")
    assert verify_rfs(kerchunk_to_rfs(tmp_path / "ours.json"), path, mode="full").equal
    indexed = kerchunk_to_rfs(tmp_path / "ours.json", chunk_index_threshold=5)
    assert "big" in indexed["indexes"]


def test_chunk_keys_of_zarr_v3_in_the_encoding_of_v2():
    metadata = json.loads(
        zarr.create_array({}, shape=(4, 2), chunks=(2, 2), dtype="i2")
        .metadata.to_buffer_dict(zarr.core.buffer.default_buffer_prototype())["zarr.json"]
        .to_bytes()
    )
    metadata["chunk_key_encoding"] = {"name": "v2", "configuration": {"separator": "."}}
    metadata["codecs"] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    text = "base64:" + base64.b64encode(np.arange(4, dtype="<i2").tobytes()).decode()
    group = {"zarr_format": 3, "node_type": "group"}
    rfs = kerchunk_to_rfs({"refs": {"zarr.json": group, "x/zarr.json": metadata, "x/1.0": text}})
    assert open_rfs(rfs)["x"][...].tolist() == [[0, 0], [0, 0], [0, 1], [2, 3]]


def test_whole_files_and_slashes_in_keys(tmp_path):
    (tmp_path / "0.bin").write_bytes(np.arange(4, dtype=">i2").tobytes())
    zarray = {
        "shape": [2, 4],
        "chunks": [1, 4],
        "dtype": ">i2",
        "fill_value": 9,
        "dimension_separator": "/",
        "order": "F",
    }
    refs = {".zgroup": {"zarr_format": 2}, "x/.zarray": zarray, "x/1/0": ["0.bin"]}
    (tmp_path / "x.json").write_text(json.dumps(refs))
    assert open_rfs(kerchunk_to_rfs(tmp_path / "x.json"))["x"][...].tolist() == [[9] * 4, [0, 1, 2, 3]]


def test_one_odd_array_is_left_out_by_name():
    zarray = {"shape": [4], "chunks": [4], "dtype": "<i2", "fill_value": 0}
    refs = {
        ".zgroup": {"zarr_format": 2},
        "grib/.zarray": {**zarray, "filters": [{"id": "grib", "var": "t"}]},
        "objects/.zarray": {**zarray, "dtype": "|O", "filters": [{"id": "pickle"}]},
        "short/.zarray": zarray,
        "short/0": "ab",
        "coded/.zarray": zarray,
        "coded/0": "base64:!",
        "good/.zarray": zarray,
        "good/.zattrs": {"zarr_conventions": 5, "_ARRAY_DIMENSIONS": ["t", "u"]},
    }
    rfs = kerchunk_to_rfs(refs)
    reasons = {entry["path"]: entry["reason"] for entry in rfs["skipped"]}
    assert set(reasons) == {"/grib", "/objects", "/short", "/coded", "/good@zarr_conventions"}
    assert "'grib' has no form" in reasons["/grib"]
    assert open_rfs(rfs)["good"].attrs["_ARRAY_DIMENSIONS"] == ["t", "u"]


def test_a_file_that_cannot_be_asked_is_named():
    zarray = {"shape": [4], "chunks": [4], "dtype": "<i2", "fill_value": 0}
    rfs = kerchunk_to_rfs(
        {".zgroup": {"zarr_format": 2}, "x/.zarray": zarray, "x/0": ["gs://bucket/f", 0, 8]}
    )
    assert "gs://bucket/f could not be asked" in rfs["converted"][0]["what"]


def test_what_is_no_document_is_named(tmp_path):
    with pytest.raises(InvalidReferencesError, match="a directory without .zmetadata"):
        kerchunk_to_rfs(tmp_path)
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(InvalidReferencesError, match="is not JSON"):
        kerchunk_to_rfs(tmp_path / "x.json")
    url = "https://b.s3.amazonaws.com/x?X-Amz-Signature=0"
    zarray = {"shape": [1], "chunks": [1], "dtype": "|i1"}
    with pytest.raises(UsageError, match="URL with a signature"):
        kerchunk_to_rfs({".zgroup": {}, "x/.zarray": zarray, "x/0": [url, 0, 1]})
