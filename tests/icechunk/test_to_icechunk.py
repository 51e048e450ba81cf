"""References written into a session: values, what is copied, and what is refused before it is written."""

import json
import os

import h5py
import icechunk
import numpy as np
import pytest
import zarr

from shadowzarr import RfsBuilder, generate_rfs, open_rfs
from shadowzarr.errors import OutputError, SourceChangedError, UnsupportedError, UsageError
from shadowzarr.icechunk import icechunk_to_rfs, open_repository, rfs_to_icechunk
from shadowzarr.refs.inline import decode_inline
from shadowzarr.refs.zarr_metadata import BYTES_CODEC


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An HDF5 file with an odd name, and its references: a rule, an index, lists and values held."""
    path = tmp_path_factory.mktemp("sources") / "a b#%41.h5"
    with h5py.File(path, "w") as file:
        file["slabs"] = np.arange(3_000_007, dtype="i4")
        data = np.arange(120_000, dtype="i2").reshape(1200, 100)
        file.create_dataset("g/indexed", data=data, chunks=(10, 9), compression="gzip")
        file.create_dataset(
            "g/edges", data=np.arange(9500.0).reshape(190, 50), chunks=(100, 40), shuffle=True
        )
        far = file.create_dataset("far", (5000,), chunks=(10,), dtype="i4", fillvalue=3)
        far[[5, 2500, 4999]] = 1
        file["scalar"] = 5
        file["text"] = np.array(["a", "bb"], dtype=h5py.string_dtype())
        file.attrs["missing"] = np.nan
        file["g"].attrs["raw"] = np.void(b"\x00\x01")
    return path, generate_rfs(path)


def test_values_types_and_attributes_are_those_of_the_references(made, tmp_path):
    from icechunk_round_trip import differences, written

    path, rfs = made
    session, report = written(rfs, tmp_path / "repo", path.as_uri())
    assert differences(rfs, zarr.open_group(session.store, mode="r")) == []
    assert (report.groups, report.arrays, report.files) == (2, 6, (path.as_uri(),))
    # the last slab, which is short in the file, and two arrays of one value each that are held
    assert report.native_chunks == 3
    assert report.virtual_chunks == 2 + 1440 + 4 + 3


def test_attributes_keep_their_convention(made, tmp_path, new_session):
    path, rfs = made
    session = new_session(tmp_path / "repo", path.as_uri())
    rfs_to_icechunk(rfs, session)
    root = zarr.open_group(session.store, mode="r")
    assert root.attrs["missing"] == "NaN"
    assert [each["name"] for each in root.attrs["zarr_conventions"]] == ["non-finite-attributes"]
    assert root["g"].attrs["raw"] == "base64:AAE="


def test_what_only_our_store_serves_does_not_leak(made, tmp_path, new_session):
    path, rfs = made
    session = new_session(tmp_path / "repo", path.as_uri())
    rfs_to_icechunk(rfs, session)
    texts = [json.dumps(json.loads(metadata(session, name))) for name in ("", "slabs/", "g/indexed/")]
    assert not any("shadowzarr.bytes" in text or "shadowzarr.default" in text for text in texts)
    assert not any("consolidated" in text for text in texts)


def metadata(session, prefix):
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    return sync(session.store.get(f"{prefix}zarr.json", default_buffer_prototype())).to_bytes()


def test_the_rest_of_the_document_travels_beside_the_attributes(made, tmp_path, new_session):
    path, rfs = made
    rfs = {**rfs, "skipped": [{"path": "/t", "kind": "dataset", "reason": "a time"}]}
    session = new_session(tmp_path / "repo", path.as_uri())
    rfs_to_icechunk(rfs, session)
    assert "shadowzarr" not in dict(zarr.open_group(session.store, mode="r").attrs)
    kept = json.loads(metadata(session, ""))["shadowzarr"]
    assert kept["must_understand"] is False
    assert kept["sources"] == {path.as_uri(): {"size": path.stat().st_size}}
    assert (kept["hdf5"], kept["skipped"]) == (rfs["hdf5"], rfs["skipped"])
    again = icechunk_to_rfs(session)
    assert {part: again[part] for part in ("sources", "skipped", "hdf5")} == {
        part: rfs[part] for part in ("sources", "skipped", "hdf5")
    }


@pytest.fixture
def raw(tmp_path):
    """A file of 95 int32 numbers, and a builder of an array of 100 of them that refers to it."""
    path = tmp_path / "raw.bin"
    path.write_bytes(np.arange(95, dtype="<i4").tobytes())
    builder = RfsBuilder()
    builder.add_array(
        "a", shape=(95,), data_type="int32", chunk_shape=(10,), codecs=[BYTES_CODEC], fill_value=0
    )
    builder.add_source(str(path), path.stat().st_size)
    return path, builder


def test_a_short_last_chunk_is_padded_and_written(raw, tmp_path, new_session):
    path, builder = raw
    for number in range(9):
        builder.add_chunk("a", (number,), str(path), number * 40, 40)
    builder.add_chunk("a", (9,), str(path), 360, 20)
    session = new_session(tmp_path / "repo", path.as_uri())
    report = rfs_to_icechunk(builder.build(), session)
    assert (report.virtual_chunks, report.native_chunks, report.native_bytes) == (9, 1, 40)
    assert zarr.open_array(session.store, path="a", mode="r")[:].tolist() == list(range(95))


def test_an_array_without_axes_and_chunks_far_apart(tmp_path, new_session):
    path = tmp_path / "x.bin"
    path.write_bytes(np.arange(10, dtype="<i4").tobytes())
    builder = RfsBuilder()
    options = {"data_type": "int32", "codecs": [BYTES_CODEC], "fill_value": -1}
    builder.add_array("point", shape=(), chunk_shape=(), **options)
    builder.add_chunk("point", (), str(path), 12, 4)
    builder.add_array("far", shape=(100, 100), chunk_shape=(1, 1), **options)
    for place in ((0, 0), (99, 99), (50, 3)):
        builder.add_chunk("far", place, str(path), place[0] // 50 * 4, 4)
    session = new_session(tmp_path / "repo", path.as_uri())
    assert rfs_to_icechunk(builder.build(), session).virtual_chunks == 4
    assert zarr.open_array(session.store, path="point", mode="r")[()] == 3
    far = zarr.open_array(session.store, path="far", mode="r")
    assert [far[0, 0], far[99, 99], far[50, 3], far[1, 1]] == [0, 1, 1, -1]


def test_a_grid_that_icechunk_cannot_count_is_refused(tmp_path, new_session):
    builder = RfsBuilder()
    builder.add_array("a", shape=(2**40,), data_type="uint8", chunk_shape=(1,), codecs=[BYTES_CODEC])
    with pytest.raises(UnsupportedError, match="'/a' has a chunk grid of .*; Icechunk counts up to"):
        rfs_to_icechunk(builder.build(), new_session(tmp_path / "repo"))


def test_a_whole_file_and_files_in_turns(tmp_path, new_session):
    builder = RfsBuilder()
    builder.add_array(
        "a", shape=(60,), data_type="int32", chunk_shape=(10,), codecs=[BYTES_CODEC], fill_value=0
    )
    for number in range(6):
        path = tmp_path / f"part {number % 3} {number // 3}"
        path.write_bytes(np.arange(number * 10, number * 10 + 10, dtype="<i4").tobytes())
        builder.add_chunk("a", (number,), str(path))
    session = new_session(tmp_path / "repo", (tmp_path / "x").as_uri())
    report = rfs_to_icechunk(builder.build(), session)
    assert (report.virtual_chunks, report.native_chunks, len(report.files)) == (6, 0, 6)
    assert zarr.open_array(session.store, path="a", mode="r")[:].tolist() == list(range(60))


def selected(tmp_path):
    """Three columns of int16 rows; the second and third are the array."""
    path = tmp_path / "rows.bin"
    path.write_bytes(np.arange(300, dtype="<i2").tobytes())
    builder = RfsBuilder()
    builder.add_array(
        "g/a", shape=(100, 2), data_type="int16", chunk_shape=(50, 2), codecs=[BYTES_CODEC], fill_value=0
    )
    builder.add_selection("g/a", record_size=6, keep=[[2, 6]])
    for number in range(2):
        builder.add_chunk("g/a", (number, 0), str(path), number * 300, 300)
    return path, builder.build()


def test_selections_are_refused_by_name(tmp_path, new_session):
    path, rfs = selected(tmp_path)
    session = new_session(tmp_path / "repo", path.as_uri())
    with pytest.raises(
        UnsupportedError, match=r"1 array cannot be virtual.*: /g/a; nothing.*copy_selections"
    ):
        rfs_to_icechunk(rfs, session)
    assert not session.has_uncommitted_changes


def test_selections_are_copied_when_asked_for(tmp_path, new_session):
    path, rfs = selected(tmp_path)
    session = new_session(tmp_path / "repo")  # no container: nothing stays in the file
    report = rfs_to_icechunk(rfs, session, copy_selections=True)
    assert (report.virtual_chunks, report.native_chunks) == (0, 2)
    path.unlink()
    values = zarr.open_array(session.store, path="g/a", mode="r")[:]
    assert np.array_equal(values, np.arange(300, dtype="<i2").reshape(100, 3)[:, 1:])


def test_chunk_keys_of_other_spellings_become_those_of_icechunk(tmp_path, new_session):
    data = tmp_path / "x.bin"
    data.write_bytes(bytes(range(40)))
    builder = RfsBuilder()
    builder.add_array(
        "a", shape=(40,), data_type="uint8", chunk_shape=(20,), codecs=[BYTES_CODEC], fill_value=0
    )
    rfs = builder.build()
    for name, second in (("v2", "a/1"), ("default", "a/c.1")):
        keys = {"name": name, "configuration": {"separator": "."}}
        node = json.loads(decode_inline(rfs["refs"]["a/zarr.json"])) | {"chunk_key_encoding": keys}
        refs = {**rfs["refs"], "a/zarr.json": json.dumps(node), second: [str(data), 20, 20]}
        session = new_session(tmp_path / second.replace("/", "-"), data.as_uri())
        rfs_to_icechunk({**rfs, "refs": refs}, session)
        values = zarr.open_array(session.store, path="a", mode="r")[:]
        assert values.tolist() == [0] * 20 + list(range(20, 40))


def test_values_held_in_files_of_the_document_are_written(tmp_path, new_session):
    from shadowzarr import write_rfs

    builder = RfsBuilder()
    builder.add_array(
        "a", shape=(4096,), data_type="uint8", chunk_shape=(1024,), codecs=[BYTES_CODEC], fill_value=0
    )
    expected = np.random.default_rng(0).integers(0, 255, 4096, dtype="uint8")
    for number in range(4):
        builder.add_inline_chunk("a", (number,), expected[number * 1024 :][:1024].tobytes())
    write_rfs(builder.build(), tmp_path / "refs", inline_limit=100)
    session = new_session(tmp_path / "repo")
    assert rfs_to_icechunk(tmp_path / "refs", session).native_chunks == 4
    assert np.array_equal(zarr.open_array(session.store, path="a", mode="r")[:], expected)


class TestGroups:
    def test_several_files_in_one_repository(self, made, tmp_path, new_session):
        path, rfs = made
        session = new_session(tmp_path / "repo", path.as_uri())
        for name in ("sub-01/ses-1", "/sub-02/"):
            rfs_to_icechunk(rfs, session, group=name)
        root = zarr.open_group(session.store, mode="r")
        expected = open_rfs(rfs)["g/edges"][:]
        for name in ("sub-01/ses-1", "sub-02"):
            assert np.array_equal(root[name]["g/edges"][:], expected)
        assert dict(root["sub-01"].attrs) == {}

    def test_what_is_there_is_replaced_only_when_asked(self, made, tmp_path, new_session):
        path, rfs = made
        session = new_session(tmp_path / "repo", path.as_uri())
        rfs_to_icechunk(rfs, session, group="x")
        rfs_to_icechunk(rfs, session, group="y")
        with pytest.raises(
            UsageError, match=r"^'/x' is in the repository already, with 'far', 'g', .*replace"
        ):
            rfs_to_icechunk(rfs, session, group="x")
        with pytest.raises(UsageError, match=r"^'/' is in the repository already, with 'x', 'y'"):
            rfs_to_icechunk(rfs, session)
        smaller = RfsBuilder()
        smaller.add_group("only", attributes={"n": 1})
        rfs_to_icechunk(smaller.build(), session, group="x", replace=True)
        root = zarr.open_group(session.store, mode="r")
        assert list(root["x"]) == ["only"]
        assert "g" in root["y"]
        rfs_to_icechunk(smaller.build(), session, replace=True)
        assert list(zarr.open_group(session.store, mode="r")) == ["only"]

    def test_a_group_with_attributes_of_its_own_is_something(self, tmp_path, new_session):
        session = new_session(tmp_path / "repo")
        zarr.open_group(session.store, mode="a")
        empty = RfsBuilder().build()
        rfs_to_icechunk(empty, session)  # a bare group is nothing
        zarr.open_group(session.store, mode="a").attrs["mine"] = 1
        with pytest.raises(UsageError, match="with a node of its own"):
            rfs_to_icechunk(empty, session)

    @pytest.mark.parametrize("name", ["", "/", "a//b", "a/../b", "."])
    def test_names_that_are_no_path(self, name, tmp_path, new_session):
        with pytest.raises(UsageError, match="is no path of a group"):
            rfs_to_icechunk(RfsBuilder().build(), new_session(tmp_path / "repo"), group=name)

    def test_nothing_goes_below_an_array(self, tmp_path, new_session):
        session = new_session(tmp_path / "repo")
        zarr.create_array(session.store, name="a", shape=(3,), dtype="i4")
        with pytest.raises(UsageError, match="'/a' is an array in the repository"):
            rfs_to_icechunk(RfsBuilder().build(), session, group="a/b")


class TestRefusedBeforeAnythingIsWritten:
    def test_a_missing_container(self, made, tmp_path, new_session):
        path, rfs = made
        session = new_session(tmp_path / "repo")
        with pytest.raises(UsageError) as caught:
            rfs_to_icechunk(rfs, session, group="x/y")
        text = str(caught.value)
        prefix = path.parent.as_uri() + "/"
        assert f"no virtual chunk container for {prefix};" in text
        assert f"local_filesystem_store('{path.parent}')" in text
        assert "LocalFileSystemAccess" in text
        assert not session.has_uncommitted_changes

    def test_what_the_message_says_can_be_done(self, made, tmp_path):
        rfs = made[1]
        repo = open_repository(tmp_path / "repo")
        with pytest.raises(UsageError) as caught:
            rfs_to_icechunk(rfs, repo.writable_session("main"))
        code = str(caught.value).partition("Add it: ")[2].partition(". Or give")[0]
        names = {"icechunk": icechunk, "repo": repo}
        exec(code.replace("; ", "\n"), names)
        assert rfs_to_icechunk(rfs, names["repo"].writable_session("main")).virtual_chunks > 1000

    def test_a_container_that_is_not_authorised(self, made, tmp_path):
        path, rfs = made
        open_repository(tmp_path / "repo", [path.as_uri()])
        repo = icechunk.Repository.open(icechunk.local_filesystem_storage(str(tmp_path / "repo")))
        session = repo.writable_session("main")
        prefix = path.parent.as_uri() + "/"
        with pytest.raises(UsageError, match=f"container for {prefix} is not authorised.*authorize_virtual"):
            rfs_to_icechunk(rfs, session)
        assert not session.has_uncommitted_changes
        with pytest.raises(icechunk.SessionStateError):
            session.commit("nothing")

    def test_the_same_in_a_session_with_changes(self, made, tmp_path):
        """Such a session cannot be copied, and is asked itself; nothing of that stays."""
        path, rfs = made
        open_repository(tmp_path / "repo", [path.as_uri()])
        repo = icechunk.Repository.open(icechunk.local_filesystem_storage(str(tmp_path / "repo")))
        session = repo.writable_session("main")
        zarr.open_group(session.store, mode="a").attrs["mine"] = 1
        before = str(session.status())
        with pytest.raises(UsageError, match="is not authorised"):
            rfs_to_icechunk(rfs, session, group="x")
        assert str(session.status()) == before
        session.commit("mine")
        root = zarr.open_group(repo.readonly_session("main").store, mode="r")
        assert (dict(root.attrs), list(root)) == ({"mine": 1}, [])

    def test_a_read_only_session(self, tmp_path):
        session = open_repository(tmp_path / "repo").readonly_session("main")
        with pytest.raises(UsageError, match="read-only"):
            rfs_to_icechunk(RfsBuilder().build(), session)

    def test_a_source_of_another_size(self, raw, tmp_path, new_session):
        path, builder = raw
        builder.add_chunk("a", (0,), str(path), 0, 40)
        session = new_session(tmp_path / "repo", path.as_uri())
        path.write_bytes(bytes(1000))
        with pytest.raises(SourceChangedError, match="has 1000 bytes, and had 380"):
            rfs_to_icechunk(builder.build(), session)
        assert not session.has_uncommitted_changes

    @pytest.mark.parametrize("name", ["..", "a/./b", "a/", "\udcff"])
    def test_names_that_icechunk_does_not_take(self, name, tmp_path, new_session):
        builder = RfsBuilder()
        rfs = builder.build()
        rfs["refs"][f"{name}/zarr.json"] = rfs["refs"]["zarr.json"]
        session = new_session(tmp_path / "repo")
        with pytest.raises(UnsupportedError, match="takes no node that is named"):
            rfs_to_icechunk(rfs, session)
        assert not session.has_uncommitted_changes


def test_a_file_changed_since_is_refused_when_it_is_read(raw, tmp_path):
    path, builder = raw
    builder.add_chunk("a", (0,), str(path), 0, 40)
    repo = open_repository(tmp_path / "repo", [path.as_uri()])
    session = repo.writable_session("main")
    rfs_to_icechunk(builder.build(), session)
    session.commit("x")
    array = zarr.open_array(repo.readonly_session("main").store, path="a", mode="r")
    assert array[:10].tolist() == list(range(10))
    path.write_bytes(np.zeros(95, "<i4").tobytes())
    later = path.stat().st_mtime + 5
    os.utime(path, (later, later))
    with pytest.raises(
        icechunk.StorageError, match="checksum of the object owning the virtual chunk has changed"
    ):
        array[:10]


def test_url_for_moves_a_file(raw, tmp_path, new_session):
    path, builder = raw
    builder.add_chunk("a", (0,), str(path), 0, 40)
    elsewhere = tmp_path / "else"
    elsewhere.mkdir()
    path.rename(elsewhere / "moved.bin")
    session = new_session(tmp_path / "repo", (elsewhere / "x").as_uri())
    asked = []

    def url_for(location):
        asked.append(location)
        return str(elsewhere / "moved.bin")

    rfs_to_icechunk(builder.build(), session, url_for=url_for)
    assert asked == [str(path)]
    assert zarr.open_array(session.store, path="a", mode="r")[:10].tolist() == list(range(10))


def test_progress_names_each_array(made, tmp_path, new_session):
    path, rfs = made
    heard = []
    session = new_session(tmp_path / "repo", path.as_uri())
    rfs_to_icechunk(rfs, session, progress=lambda *event: heard.append(event))
    assert [done for _, done, _ in heard] == list(range(6))
    assert {total for *_, total in heard} == {6}
    assert "g/indexed" in {name for name, *_ in heard}


def test_what_icechunk_does_not_take_is_an_error_of_ours(tmp_path, new_session, monkeypatch):
    session = new_session(tmp_path / "repo")

    async def refuse(self, key, value):
        raise icechunk.InvalidInputError("bad metadata: expected value\n\ncontext: far")

    monkeypatch.setattr(icechunk.IcechunkStore, "set", refuse)
    with pytest.raises(OutputError, match=r"^Icechunk does not take the references at '/': bad metadata"):
        rfs_to_icechunk(RfsBuilder().build(), session)


def test_attributes_of_cf_as_xarray_reads_them(tmp_path, new_session):
    """Only when asked for: else they come back as they were."""
    xarray = pytest.importorskip("xarray")
    path = tmp_path / "air.nc"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3.0)
        file["x"].make_scale("x")
        file["x"].attrs["_FillValue"] = np.array([1.0])
    rfs = generate_rfs(path)
    stored, spelled = (new_session(tmp_path / name, path.as_uri()) for name in ("stored", "spelled"))
    rfs_to_icechunk(rfs, stored)
    assert open_rfs(icechunk_to_rfs(stored))["x"].attrs["_FillValue"] == [1.0]
    rfs_to_icechunk(rfs, spelled, cf_attributes=True)
    with xarray.open_zarr(spelled.store, consolidated=False) as opened:
        assert np.isnan(opened["x"].values).tolist() == [False, True, False]
