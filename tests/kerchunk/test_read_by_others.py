"""Our version 1 documents in fsspec with zarr, and in VirtualiZarr: every array equal to what h5py reads."""

import json
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr

from shadowzarr import generate_rfs, open_rfs, write_kerchunk, write_rfs
from shadowzarr.errors import UsageError
from shadowzarr.testing.sample_nwb import write_behavior, write_contiguous_recording, write_imaging

CORPUS = (
    "nwb/pynwb/2.1.0_nwbfile_with_extension.nwb",
    "nwb/hdmf-zarr/sub_anm00239123_ses_20170627T093549_ecephys_and_ogen.nwb",
    "netcdf4/kerchunk/air.nc",
    "netcdf4/netcdf4-python/issue672.nc",
)


def test_a_document_that_names_every_file_in_full(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.arange(5000), chunks=(100,))
    rfs = generate_rfs(tmp_path / "x.h5", chunk_index_threshold=10)
    write_kerchunk(rfs, tmp_path / "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    assert document["version"] == 1
    assert "templates" not in document
    assert document["refs"]["x/c/49"][0] == str(tmp_path / "x.h5")
    np.testing.assert_array_equal(open_rfs(tmp_path / "x.json")["x"][...], np.arange(5000))
    with pytest.raises(UsageError, match="ends in .json"):
        write_kerchunk(rfs, tmp_path / "x")


@pytest.fixture(params=["behavior", "imaging", "contiguous", *CORPUS])
def written(request, tmp_path):
    """An HDF5 file and the .json that is written of it."""
    samples = {"behavior": write_behavior, "imaging": write_imaging, "contiguous": write_contiguous_recording}
    if request.param in samples:
        with warnings.catch_warnings(action="ignore"):
            path = samples[request.param](tmp_path / "sample.nwb")
    else:
        path = request.getfixturevalue("shared") / "corpus" / request.param
    write_rfs(generate_rfs(path), tmp_path / "refs.json")
    return path, tmp_path / "refs.json"


def numeric_arrays(document: Path):
    """Paths of the arrays of numbers and text; structs are outside of what other readers promise."""
    refs = json.loads(document.read_text())["refs"]
    nodes = {
        key[: -len("/zarr.json")]: json.loads(value)
        for key, value in refs.items()
        if key.endswith("/zarr.json")
    }
    return [
        path
        for path, node in nodes.items()
        if node["node_type"] == "array" and isinstance(node["data_type"], str)
    ]


def test_fsspec_and_zarr(written):
    path, document = written
    with warnings.catch_warnings(action="ignore"):
        options = {"fo": str(document), "remote_protocol": "file", "asynchronous": True}
        root = zarr.open_group("reference://", mode="r", storage_options=options, use_consolidated=False)
        ours = open_rfs(document)
        arrays = numeric_arrays(document)
        assert arrays
        with h5py.File(path) as file:
            for name in arrays:
                found = root[name][...]
                np.testing.assert_array_equal(found, ours[name][...], err_msg=name)
                if file[name].dtype.kind in "iuf":
                    np.testing.assert_array_equal(found, file[name][...], err_msg=name)


def test_virtualizarr(written):
    parsers = pytest.importorskip("virtualizarr.parsers")
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore

    path, document = written
    write_kerchunk(document, document)
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    arrays = numeric_arrays(document)
    read = 0
    with warnings.catch_warnings(action="ignore"), h5py.File(path) as file:
        for group in sorted({name.rpartition("/")[0] for name in arrays}):
            parser = parsers.KerchunkJSONParser(group=group or None, fs_root="file://")
            root = zarr.open_group(parser(document.as_uri(), registry), mode="r")
            for name in arrays:
                short = name.rpartition("/")[2]
                if name.rpartition("/")[0] == group and file[name].dtype.kind in "iuf":
                    np.testing.assert_array_equal(root[short][...], file[name][...], err_msg=name)
                    read += 1
    assert read
