"""Parquet references as fsspec and kerchunk write them."""

import json
import warnings

import h5py
import numpy as np
import pytest

from shadowzarr import kerchunk_to_rfs, open_rfs
from shadowzarr.errors import InvalidReferencesError

df = pytest.importorskip("kerchunk.df")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("g/x", data=np.arange(5000).reshape(50, 100), chunks=(5, 10), compression="gzip")
        holes = file.create_dataset("holes", (3000,), "f4", chunks=(100,), fillvalue=-3)
        holes[1000:2000] = 5
        file["scalar"] = 2.5
        file.create_dataset("text", data=["a", "ö"], dtype=h5py.string_dtype())
        file.create_dataset("piece", data=np.arange(3000.0))
    from kerchunk.hdf import SingleHdf5ToZarr

    with warnings.catch_warnings(action="ignore"):
        document = SingleHdf5ToZarr(str(folder / "x.h5"), inline_threshold=50).translate()
        df.refs_to_dataframe(document, str(folder / "refs.parq"), record_size=7)
    return folder


@pytest.mark.parametrize("threshold", [None, 20])
def test_it_reads_as_the_hdf5_file(made, threshold):
    rfs = kerchunk_to_rfs(made / "refs.parq", chunk_index_threshold=threshold)
    assert rfs.get("skipped", []) == []
    assert list(rfs.get("indexes", {})) == ([] if threshold is None else ["g/x"])
    root = open_rfs(rfs)
    with h5py.File(made / "x.h5") as file:
        for name in ("g/x", "holes", "scalar", "piece"):
            np.testing.assert_array_equal(root[name][...], file[name][...], err_msg=name)
            assert root[name].dtype == file[name].dtype
        assert root["text"][...].tolist() == [text.decode() for text in file["text"][...]]


def test_a_file_that_is_not_there_holds_chunks_that_were_never_written(made, tmp_path):
    import shutil

    shutil.copytree(made / "refs.parq", tmp_path / "refs.parq")
    (tmp_path / "refs.parq" / "g" / "x" / "refs.0.parq").unlink()
    values = open_rfs(kerchunk_to_rfs(tmp_path / "refs.parq"))["g/x"][...]
    assert (values[:5, :70] == 0).all()
    assert values[5, 0] == 500


def test_damaged_tables_are_named(tmp_path):
    (tmp_path / "x.parq").mkdir()
    metadata = {".zgroup": {"zarr_format": 2}, "x/.zarray": {"shape": [4], "chunks": [4], "dtype": "<i2"}}
    (tmp_path / "x.parq" / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": 10}))
    (tmp_path / "x.parq" / "x").mkdir()
    (tmp_path / "x.parq" / "x" / "refs.0.parq").write_text("no table")
    with pytest.raises(InvalidReferencesError, match="no Parquet table"):
        kerchunk_to_rfs(tmp_path / "x.parq")
    (tmp_path / "x.parq" / ".zmetadata").write_text(json.dumps({"metadata": metadata}))
    with pytest.raises(InvalidReferencesError, match="record_size"):
        kerchunk_to_rfs(tmp_path / "x.parq")
