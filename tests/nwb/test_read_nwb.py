"""NWB files out of every kind of store, beside what pynwb reads of the original."""

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import LocalStore, MemoryStore

from shadowzarr import RfsStore, generate_rfs, materialize, write_rfs
from shadowzarr.errors import InvalidReferencesError, MissingDependencyError, UsageError
from shadowzarr.nwb import decoded, read_nwb

sys.path.append(str(Path(__file__).parents[1] / "e2e"))
from containers import differences

PROTOTYPE = default_buffer_prototype()
REGISTERED = [{"uuid": "2adc9aac-d676-4e93-8feb-903b6ae9e08a", "name": "non-finite-attributes"}]


def text_of(store, key, byte_range=None):
    data = sync(store.get(key, PROTOTYPE, byte_range))
    return None if data is None else data.to_bytes().decode()


def group(attributes, **more):
    return json.dumps({"zarr_format": 3, "node_type": "group", "attributes": attributes, **more})


def store_of(**texts):
    store = MemoryStore()
    for key, text in texts.items():
        sync(
            store.set(
                key.replace("__", "/") + "/zarr.json" if key else "zarr.json",
                PROTOTYPE.buffer.from_bytes(text.encode()),
            )
        )
    return store  # fmt: skip


class TestDecoded:
    def test_registered_attributes_are_numbers_again(self):
        encoded = {"x": "NaN", "y": ["-Infinity", 1], "t": "_str_NaN", "zarr_conventions": REGISTERED}
        store = decoded(store_of(a=group(encoded), b=group({"x": "NaN"})))
        root = zarr.open_group(store, mode="r", path="a")
        assert np.isnan(root.attrs["x"])
        assert (root.attrs["y"], root.attrs["t"]) == ([-np.inf, 1], "NaN")
        assert "zarr_conventions" not in root.attrs
        assert zarr.open_group(store, mode="r", path="b").attrs["x"] == "NaN"

    def test_what_needs_no_decoding_is_served_as_it_is(self):
        text = group({"x": 1.0, "n": 12345678901234567890}, other={"must_understand": False})
        assert text_of(decoded(store_of(a=text)), "a/zarr.json") == text

    def test_consolidated_metadata_are_decoded_too(self):
        inner = json.loads(group({"x": "Infinity", "zarr_conventions": REGISTERED}))
        whole = {"kind": "inline", "must_understand": False, "metadata": {"a": inner}}
        store = decoded(store_of(**{"": group({}, consolidated_metadata=whole)}))
        assert zarr.open_consolidated(store, mode="r", zarr_format=3)["a"].attrs["x"] == np.inf

    def test_parts_of_documents_and_of_chunks(self):
        from zarr.abc.store import RangeByteRequest

        inner = MemoryStore()
        sync(inner.set("a/c/0", PROTOTYPE.buffer.from_bytes(b"0123456789")))
        sync(inner.set("zarr.json", PROTOTYPE.buffer.from_bytes(group({}).encode())))
        store = decoded(inner)
        assert text_of(store, "a/c/0", RangeByteRequest(2, 5)) == "234"
        assert text_of(store, "zarr.json", RangeByteRequest(0, 5)) == group({})[:5]
        assert text_of(store, "b/zarr.json") is None

    def test_it_is_read_only(self):
        store = decoded(MemoryStore())
        assert store.read_only
        with pytest.raises(ValueError, match="read-only"):
            sync(store.set("x", PROTOTYPE.buffer.from_bytes(b"")))
        with pytest.raises(ValueError, match="read-only"):
            sync(store.delete("x"))

    def test_a_group_of_a_store(self, tmp_path):
        root = zarr.open_group(LocalStore(tmp_path), mode="w", zarr_format=3)
        root.create_array("sub/one/a", data=np.arange(5))
        root.create_array("sub/oneself", data=np.arange(3))
        store = decoded(LocalStore(tmp_path), group="/sub/one/")
        below = zarr.open_group(store, mode="r")
        assert list(below) == ["a"]
        assert below["a"][:].tolist() == [0, 1, 2, 3, 4]
        assert sync(keys(store)) == ["a/c/0", "a/zarr.json", "zarr.json"]
        assert sync(store.exists("a/zarr.json"))
        assert not sync(store.exists("oneself/zarr.json"))
        again = pickle.loads(pickle.dumps(store))
        assert again == store
        assert again != decoded(LocalStore(tmp_path), group="sub")
        assert str(again) == str(store)


async def keys(store):
    return sorted([key async for key in store.list()])


@pytest.fixture(scope="module")
def behaviour(tmp_path_factory):
    """An NWB file with NaN in attributes, and its references."""
    pytest.importorskip("hdmf_zarr")
    from shadowzarr.testing.sample_nwb import write_behavior

    path = write_behavior(tmp_path_factory.mktemp("nwb") / "behaviour.nwb")
    return path, generate_rfs(path)


@pytest.fixture
def compare(behaviour):
    from pynwb import NWBHDF5IO

    with NWBHDF5IO(behaviour[0], "r") as io:
        original = io.read()
        yield lambda nwbfile: list(differences(original, nwbfile))


def icechunk_store(folder, path, rfs, group=None):
    pytest.importorskip("icechunk")
    from shadowzarr.icechunk import commit_changes, open_repository, rfs_to_icechunk

    repo = open_repository(folder, [path.as_uri()])
    commit_changes(repo, "x", lambda session: rfs_to_icechunk(rfs, session, group=group))
    return repo.readonly_session("main").store


def zarr_folder(rfs, folder):
    """An ordinary Zarr store with the same nodes, attributes as they are stored."""
    source, target = RfsStore(rfs, strict_json=True), LocalStore(folder)
    sync(copy(source, target))
    return folder


async def copy(source, target):
    async for key in source.list():
        await target.set(key, await source.get(key, PROTOTYPE))


@pytest.mark.parametrize("form", ["rfs", "rfs.json"])
def test_references(behaviour, compare, tmp_path, form):
    write_rfs(behaviour[1], tmp_path / form)
    assert compare(read_nwb(tmp_path / form)) == []
    assert compare(read_nwb(RfsStore(tmp_path / form))) == []


def test_icechunk(behaviour, compare, tmp_path):
    store = icechunk_store(tmp_path / "repo", *behaviour)
    assert compare(read_nwb(store)) == []
    from hdmf_zarr import NWBZarrIO

    assert compare(NWBZarrIO(decoded(store), mode="r").read()) == []


def test_a_group_of_a_repository(behaviour, compare, tmp_path):
    store = icechunk_store(tmp_path / "repo", *behaviour, group="sub-04/a")
    assert compare(read_nwb(store, group="sub-04/a")) == []


def test_a_zarr_folder(behaviour, compare, tmp_path):
    place = zarr_folder(behaviour[1], tmp_path / "materialized.zarr")
    assert compare(read_nwb(place)) == []
    assert compare(read_nwb(LocalStore(place))) == []


@pytest.mark.parametrize("layout", ["default", "ephys", "imaging"])
def test_a_materialized_store(behaviour, compare, tmp_path, layout):
    materialize(behaviour[1], tmp_path / "out.zarr", layout=layout, verify=True)
    assert compare(read_nwb(tmp_path / "out.zarr")) == []


def test_materialized_into_icechunk(behaviour, compare, tmp_path):
    icechunk = pytest.importorskip("icechunk")
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repo")))
    session = repo.writable_session("main")
    materialize(behaviour[1], session)
    session.commit("x")
    assert compare(read_nwb(repo.readonly_session("main").store)) == []


def test_without_nan_the_plain_store_will_do(tmp_path):
    pytest.importorskip("hdmf_zarr")
    from hdmf_zarr import NWBZarrIO
    from pynwb import NWBHDF5IO

    from shadowzarr.testing.sample_nwb import write_imaging

    path = write_imaging(tmp_path / "x.nwb")
    store = icechunk_store(tmp_path / "repo", path, generate_rfs(path))
    materialize(generate_rfs(path), tmp_path / "out.zarr", layout="imaging")
    with NWBHDF5IO(path, "r") as io:
        original = io.read()
        for place in (store, tmp_path / "out.zarr"):
            assert list(differences(original, NWBZarrIO(place, mode="r").read())) == []


@pytest.mark.filterwarnings("ignore")  # old files make pynwb and hdmf warn
@pytest.mark.parametrize(
    "name",
    [
        "pynwb/1.1.2_nwbfile.nwb",
        "pynwb/2.1.0_nwbfile_with_extension.nwb",
        "hdmf-zarr/sub_anm00239123_ses_20170627T093549_ecephys_and_ogen.nwb",
    ],
)
def test_real_files_out_of_other_places(name, shared, tmp_path):
    pytest.importorskip("hdmf_zarr")
    from pynwb import NWBHDF5IO

    path = shared / "corpus" / "nwb" / name
    rfs = generate_rfs(path)
    materialize(rfs, tmp_path / "out.zarr", layout="ephys")
    store = icechunk_store(tmp_path / "repo", path, rfs, group="x")
    with NWBHDF5IO(path, "r") as io:
        has_ids = "object_id" in io._file.attrs
        original = io.read()
        for place, group in ((store, "x"), (tmp_path / "out.zarr", None)):
            assert list(differences(original, read_nwb(place, group=group), has_ids=has_ids)) == []


def test_places_that_hold_no_nwb_file(behaviour, tmp_path):
    with pytest.raises(InvalidReferencesError, match="is an HDF5 file, not references"):
        read_nwb(behaviour[0])
    icechunk_store(tmp_path / "repo", *behaviour)
    with pytest.raises(UsageError, match=r"is an Icechunk repository; open it .*readonly_session"):
        read_nwb(tmp_path / "repo")


def test_without_hdmf_zarr(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "hdmf_zarr", None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[nwb\]"):
        read_nwb(tmp_path)
