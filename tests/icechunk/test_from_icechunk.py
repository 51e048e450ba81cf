"""References read out of a session, of repositories that we wrote and of others."""

import json

import h5py
import numpy as np
import pytest
import zarr

from shadowzarr import generate_rfs, open_rfs, verify_rfs, write_rfs
from shadowzarr.errors import ReadError, UsageError
from shadowzarr.icechunk import icechunk_to_rfs, open_repository, rfs_to_icechunk
from shadowzarr.refs.document import FORMAT_VERSION


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("sources") / "x.h5"
    with h5py.File(path, "w") as file:
        data = np.arange(60_000, dtype="i2")
        file.create_dataset("many", data=data.reshape(1200, 50), chunks=(10, 5), compression="gzip")
        file.create_dataset("few", data=data[:3000], chunks=(100,), compression="gzip")
        far = file.create_dataset("far", (10**5,), chunks=(10,), dtype="i4")
        for place in range(0, 3000, 1000):
            far[place] = 1
        file["scalar"] = 1.5
        file.attrs["missing"] = np.nan
    return path, generate_rfs(path)


@pytest.fixture(scope="module")
def session(made, tmp_path_factory):
    path, rfs = made
    repo = open_repository(tmp_path_factory.mktemp("repo") / "r", [path.as_uri()])
    writing = repo.writable_session("main")
    rfs_to_icechunk(rfs, writing, group="sub/a")
    writing.commit("x")
    return repo.readonly_session("main")


def test_the_document_is_the_one_that_was_written(made, session, tmp_path):
    from icechunk_round_trip import moved

    rfs = made[1]
    again = icechunk_to_rfs(session, group="sub/a")
    assert moved(rfs, again) == {}
    assert (again["version"], again["format"], again["requires"]) == (2, FORMAT_VERSION, ["indexes"])
    assert list(again["indexes"]) == ["many"]
    assert np.array_equal(again["indexes"]["many"]["index"], rfs["indexes"]["many"]["index"])
    for form in ("again", "again.json"):
        write_rfs(again, tmp_path / form)
        assert verify_rfs(tmp_path / form, mode="full").equal
    assert json.loads(again["refs"]["zarr.json"]) == json.loads(rfs["refs"]["zarr.json"])


def test_a_group_above_and_the_whole(made, session):
    rfs = made[1]
    whole = icechunk_to_rfs(session)
    assert "hdf5" not in whole
    assert list(whole["indexes"]) == ["sub/a/many"]
    assert whole["sources"] == rfs["sources"]
    assert open_rfs(whole)["sub/a/few"][7] == 7
    below = icechunk_to_rfs(session, group="sub/a/few")
    assert below["sources"] == rfs["sources"]
    assert "zarr.json" in below["refs"]
    assert "c/0" in below["refs"]


def test_what_is_left_out_is_named_with_its_new_path(tmp_path):
    from shadowzarr import RfsBuilder

    builder = RfsBuilder()
    builder.add_skipped("/t", "dataset", "a time")
    session = open_repository(tmp_path / "r").writable_session("main")
    rfs_to_icechunk(builder.build(), session, group="sub")
    assert icechunk_to_rfs(session)["skipped"] == [{"path": "/sub/t", "kind": "dataset", "reason": "a time"}]
    assert icechunk_to_rfs(session, group="/sub/")["skipped"][0]["path"] == "/t"


def test_no_such_group(session):
    with pytest.raises(UsageError, match="no node at '/nothing'"):
        icechunk_to_rfs(session, group="nothing")


@pytest.fixture
def native(tmp_path):
    """A repository of Zarr data alone: chunks in its manifests, and larger ones in files of its own."""
    repo = open_repository(tmp_path / "native")
    session = repo.writable_session("main")
    root = zarr.open_group(session.store, mode="a")
    root.create_array("small", data=np.arange(10.0))
    values = np.random.default_rng(0).integers(0, 2**60, 20_000).reshape(100, 200)
    root.create_array("large", data=values, chunks=(50, 100))
    session.commit("x")
    return tmp_path / "native", repo.readonly_session("main"), values


def test_native_chunks_are_copied(native):
    _, session, values = native
    rfs = icechunk_to_rfs(session)
    assert rfs["version"] == 1
    assert all(isinstance(value, str) for value in rfs["refs"].values())
    root = open_rfs(rfs)
    assert np.array_equal(root["large"][:], values)
    assert np.array_equal(root["small"][:], np.arange(10.0))


def test_native_chunks_are_referenced_where_they_are(native):
    place, session, values = native
    rfs = icechunk_to_rfs(session, native_chunks_prefix=str(place / "chunks") + "/")
    assert sum(isinstance(value, list) for value in rfs["refs"].values()) == 4
    assert all(url.startswith(str(place / "chunks")) for url in rfs["templates"].values())
    root = open_rfs(rfs)
    assert np.array_equal(root["large"][:], values)
    assert np.array_equal(root["small"][:], np.arange(10.0))


def test_a_native_chunk_that_is_lost_is_an_error(native):
    place, session, _ = native
    for file in (place / "chunks").iterdir():
        file.unlink()
    with pytest.raises(ReadError, match="of the Icechunk repository cannot be read"):
        icechunk_to_rfs(session)


def test_places_that_references_cannot_name_need_url_for(tmp_path):
    import icechunk

    config = icechunk.RepositoryConfig.default()
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer("gs://bucket/", icechunk.gcs_store({})))
    repo = icechunk.Repository.create(icechunk.in_memory_storage(), config=config)
    session = repo.writable_session("main")
    zarr.create_array(session.store, name="a", shape=(4,), chunks=(2,), dtype="u1", compressors=None)
    session.store.set_virtual_ref("a/c/1", "gs://bucket/x", offset=3, length=2)
    with pytest.raises(UsageError, match="virtual chunks are in gs://bucket/x, .*url_for"):
        icechunk_to_rfs(session)
    (tmp_path / "x").write_bytes(b"abcdefg")
    rfs = icechunk_to_rfs(session, url_for=lambda url: str(tmp_path / url.rpartition("/")[2]))
    assert bytes(open_rfs(rfs)["a"][:]) == b"\0\0de"


def test_arrays_in_several_files(tmp_path):
    """An index names one file: that with most chunks; the others are listed."""
    session = open_repository(tmp_path / "r", [(tmp_path / "x").as_uri()]).writable_session("main")
    zarr.create_array(session.store, name="a", shape=(1300,), chunks=(1,), dtype="u1", compressors=None)
    for name, start, stop in (("one", 0, 1200), ("two", 1200, 1300)):
        (tmp_path / name).write_bytes(bytes(n % 251 for n in range(start, stop)))
        count = stop - start
        session.store.set_virtual_refs_arr(
            "a", (count,), [(tmp_path / name).as_uri()] * count, np.arange(count, dtype="u8"),
            np.ones(count, "u8"), arr_offset=(start,),
        )  # fmt: skip
    rfs = icechunk_to_rfs(session)
    assert rfs["indexes"]["a"]["url"] == str(tmp_path / "one")
    assert sum(key.startswith("a/c/") for key in rfs["refs"]) == 100
    assert open_rfs(rfs)["a"][:].tolist() == [n % 251 for n in range(1300)]


def test_nodes_that_are_named_as_metadata_are(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["zarr.json"] = np.arange(3000)
        file.create_group("g/zarr.json")["c"] = np.arange(2000)
    repo = open_repository(tmp_path / "r", [path.as_uri()])
    writing = repo.writable_session("main")
    rfs = generate_rfs(path)
    rfs_to_icechunk(rfs, writing)
    again = icechunk_to_rfs(writing)
    assert again["refs"].keys() == rfs["refs"].keys()
