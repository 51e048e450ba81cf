"""kerchunk's documents behind a server and in a bucket, in JSON and Parquet, and the files that they name."""

import json
import warnings

import h5py
import numpy as np
import pytest

from shadowzarr import kerchunk_to_rfs, open_rfs
from shadowzarr.cli import main
from shadowzarr.errors import SourceChangedError, SourceNotFoundError
from shadowzarr.testing import RangeServer

VALUES = np.arange(5000).reshape(50, 100)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An HDF5 file and kerchunk's document of it, in which the file is named relative to the document."""
    path = tmp_path_factory.mktemp("kerchunk") / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("g/x", data=VALUES, chunks=(5, 10), compression="gzip")
    from kerchunk.hdf import SingleHdf5ToZarr

    with warnings.catch_warnings(action="ignore"):
        document = SingleHdf5ToZarr(str(path), inline_threshold=0).translate()
    return path, document


def naming(document, place):
    """The document with its file at another place."""
    refs = {
        key: [place, *value[1:]] if isinstance(value, list) else value
        for key, value in document["refs"].items()
    }
    return {**document, "refs": refs}


@pytest.fixture
def served(tmp_path, made):
    path, document = made
    (tmp_path / "x.h5").write_bytes(path.read_bytes())
    (tmp_path / "near.json").write_text(json.dumps(naming(document, "x.h5")))
    with RangeServer(tmp_path) as server:
        (tmp_path / "far.json").write_text(json.dumps(naming(document, server.url("x.h5"))))
        yield server, tmp_path


@pytest.mark.parametrize("name", ["near.json", "far.json"])
def test_a_url_names_files_beside_it_or_elsewhere(served, name):
    server, folder = served
    rfs = kerchunk_to_rfs(server.url(name))
    assert set(rfs["sources"]) == {server.url("x.h5")}
    assert rfs["sources"][server.url("x.h5")]["size"] == (folder / "x.h5").stat().st_size
    asked = [request for request in server.log if request.path.endswith(".h5")]
    assert {request.status for request in asked} <= {206}
    assert np.array_equal(open_rfs(rfs)["g/x"][...], VALUES)
    (folder / "x.h5").write_bytes((folder / "x.h5").read_bytes() + b"1")
    with pytest.raises(SourceChangedError):
        open_rfs(rfs)["g/x"][...]


@pytest.mark.filterwarnings("ignore:The 'fastparquet' engine is deprecated")
def test_parquet_by_url(served, made):
    df = pytest.importorskip("kerchunk.df")
    server, folder = served
    df.refs_to_dataframe(naming(made[1], server.url("x.h5")), str(folder / "refs.parq"), record_size=70)
    rfs = kerchunk_to_rfs(server.url("refs.parq"))
    assert set(rfs["sources"]) == {server.url("x.h5")}
    assert np.array_equal(open_rfs(rfs)["g/x"][...], VALUES)


@pytest.mark.filterwarnings("ignore:The 'fastparquet' engine is deprecated")
def test_in_a_bucket(object_store, made, tmp_path):
    df = pytest.importorskip("kerchunk.df")
    path, document = made
    location = "s3://sources/a/x.h5"
    files = {"a/x.h5": path.read_bytes(), "a/refs.json": json.dumps(naming(document, "x.h5")).encode()}
    df.refs_to_dataframe(naming(document, location), str(tmp_path / "refs.parq"), record_size=70)
    for file in (tmp_path / "refs.parq").rglob("*"):
        if file.is_file():
            files[f"a/{file.relative_to(tmp_path)}"] = file.read_bytes()
    for key, data in files.items():
        object_store.put_object(Bucket="sources", Key=key, Body=data)
    etag = object_store.head_object(Bucket="sources", Key="a/x.h5")["ETag"]
    for name in ("refs.json", "refs.parq"):
        rfs = kerchunk_to_rfs(f"s3://sources/a/{name}")
        assert set(rfs["sources"]) == {location}
        assert rfs["sources"][location]["etag"] == etag
        assert np.array_equal(open_rfs(rfs)["g/x"][...], VALUES)


def test_what_is_not_there(served, tmp_path, capsys):
    server, folder = served
    with pytest.raises(SourceNotFoundError, match=r"gone\.json"):
        kerchunk_to_rfs(server.url("gone.json"))
    (folder / "x.h5").unlink()
    rfs = kerchunk_to_rfs(server.url("near.json"))
    assert "could not be asked for its size" in rfs["converted"][0]["what"]
    with pytest.raises(SourceNotFoundError, match=r"x\.h5"):
        open_rfs(rfs)["g/x"][...]
    out = tmp_path / "out"
    assert main(["convert", "--from", "kerchunk", "--to", "rfs", server.url("gone.json"), str(out)]) == 1
    assert "gone.json" in capsys.readouterr().err
    assert not out.exists()
