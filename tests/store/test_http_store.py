import copy
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import Buffer, cpu, default_buffer_prototype
from zarr.testing.store import StoreTests

from shadowzarr import write_rfs
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.errors import (
    AccessDeniedError,
    SourceChangedError,
    TransientReadError,
    UnsupportedError,
    UsageError,
)
from shadowzarr.store.http_store import HttpStore
from shadowzarr.testing import RangeServer
from shadowzarr.testing.faults import Fault

FOLDERS: dict[str, Path] = {}


class FilledStore(HttpStore):
    """For the conformance tests, which fill a store through itself: puts values into the served folder."""

    def put(self, key, value):
        path = FOLDERS[self.url] / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value.to_bytes())

    def __reduce__(self):
        return type(self), (self.url,)


class WritableStore(FilledStore):
    async def set(self, key, value):
        self.put(key, value)


class TestConformance(StoreTests[FilledStore, cpu.Buffer]):
    """The read half of zarr's own tests of a store."""

    store_cls = FilledStore
    buffer_cls = cpu.Buffer

    @pytest.fixture
    def store_kwargs(self, tmp_path):
        with RangeServer(tmp_path) as server:
            FOLDERS[server.url("")] = tmp_path
            yield {"url": server.url("")}

    @pytest.fixture
    def open_kwargs(self, store_kwargs):
        return store_kwargs

    @pytest.fixture
    async def store(self, store_kwargs):
        return FilledStore(**store_kwargs)

    @pytest.fixture
    async def store_not_open(self, store_kwargs):
        return FilledStore(**store_kwargs)

    async def set(self, store: FilledStore, key: str, value: Buffer) -> None:
        store.put(key, value)

    async def get(self, store: FilledStore, key: str) -> Buffer:
        return self.buffer_cls.from_bytes((FOLDERS[store.url] / key).read_bytes())

    def test_store_repr(self, store):
        assert str(store) in repr(store)

    def test_store_supports_writes(self, store):
        assert not store.supports_writes

    def test_store_supports_listing(self, store):
        assert not store.supports_listing

    def test_store_read_only(self, store):
        assert store.read_only

    @pytest.mark.parametrize("read_only", [True])
    async def test_store_open_read_only(self, open_kwargs, read_only):
        store = await self.store_cls.open(**open_kwargs)
        assert store._is_open
        assert store.read_only

    async def test_read_only_store_raises(self, open_kwargs):
        store = await self.store_cls.open(**open_kwargs)
        with pytest.raises(ValueError, match="read-only"):
            await store.set("foo", self.buffer_cls.from_bytes(b"bar"))
        with pytest.raises(ValueError, match="read-only"):
            await store.delete("foo")

    async def test_exists(self, store_kwargs):
        await super().test_exists(WritableStore(**store_kwargs))

    async def test_serializable_store(self, store_kwargs):
        await super().test_serializable_store(WritableStore(**store_kwargs))

    @pytest.mark.parametrize("name", ["list", "list_prefix", "list_dir"])
    def test_listing_is_refused(self, store, name):
        with pytest.raises(UnsupportedError, match="cannot be listed"):
            getattr(store, name)(*([] if name == "list" else [""]))


# What writes, and what lists.
WRITES = "set set_not_open set_many set_if_not_exists clear with_read_only_store delete delete_dir"
LISTS = "is_empty list list_prefix list_empty_path list_dir getsize_prefix"
for _name in f"{WRITES} delete_nonexistent_key_does_not_raise {LISTS}".split():
    setattr(TestConformance, f"test_{_name}", None)


@pytest.fixture
def server(tmp_path):
    with RangeServer(tmp_path / "served") as running:
        running.folder.mkdir()
        yield running


@pytest.fixture
def values(server):
    """A store with groups, compressed and sharded arrays, and consolidated metadata."""
    data = np.arange(10_000, dtype=np.int32).reshape(100, 100)
    root = zarr.create_group(server.folder / "x.zarr", attributes={"name": "x"})
    root.create_array("a b/#plain", data=data, chunks=(10, 100))
    root.create_array("sharded", data=data, chunks=(10, 10), shards=(50, 100))
    with warnings.catch_warnings(action="ignore"):  # not part of the specification of Zarr v3
        zarr.consolidate_metadata(server.folder / "x.zarr")
    return data


def test_a_zarr_store_behind_a_url(server, values):
    root = zarr.open_group(HttpStore(server.url("x.zarr")), mode="r")
    np.testing.assert_array_equal(root["a b/#plain"][5:15, 3], values[5:15, 3])
    np.testing.assert_array_equal(root["sharded"][5:15, 3], values[5:15, 3])
    assert sorted(root.keys()) == ["a b", "sharded"]
    other = pickle.loads(pickle.dumps(root))
    np.testing.assert_array_equal(other["sharded"][:], values)
    assert copy.deepcopy(root.store) == root.store


def test_an_index_array_is_a_zarr_array(server, recording):
    write_rfs(recording.build().build(), server.folder / "x.shadowzarr")
    (folder,) = (server.folder / "x.shadowzarr" / "index").iterdir()
    index = zarr.open_array(HttpStore(server.url(f"x.shadowzarr/index/{folder.name}")), mode="r")
    np.testing.assert_array_equal(index[:], recording.index())


def test_the_query_of_the_folder_goes_along(server, values):
    store = HttpStore(server.url("x.zarr") + "?token=secret")
    zarr.open_array(store, path="sharded", mode="r")[0, 0]
    assert {request.query.get("token") for request in server.log} == {"secret"}
    assert "secret" not in str(store) + repr(store)


async def value(store, key, byte_range=None):
    found = await store.get(key, default_buffer_prototype(), byte_range)
    return None if found is None else found.to_bytes()


async def test_ranges(server):
    (server.folder / "ten").write_bytes(b"0123456789")
    (server.folder / "empty").write_bytes(b"")
    store = HttpStore(server.url(""))
    assert await value(store, "ten", RangeByteRequest(2, 5)) == b"234"
    assert await value(store, "ten", RangeByteRequest(8, 50)) == b"89"
    assert await value(store, "ten", OffsetByteRequest(7)) == b"789"
    assert await value(store, "ten", OffsetByteRequest(70)) == b""
    assert await value(store, "ten", SuffixByteRequest(3)) == b"789"
    assert await value(store, "ten", SuffixByteRequest(30)) == b"0123456789"
    assert await value(store, "ten", SuffixByteRequest(0)) == b""
    assert await value(store, "empty", OffsetByteRequest(0)) == b""
    assert await value(store, "none", OffsetByteRequest(0)) is None
    assert await store.getsize("empty") == 0


@pytest.mark.parametrize(("status", "kind"), [(403, AccessDeniedError), (503, TransientReadError)])
async def test_what_cannot_be_read_is_never_missing(server, status, kind):
    (server.folder / "ten").write_bytes(b"0123456789")
    server.faults.add(Fault(path="ten", status=status))
    store = HttpStore(server.url(""), reader=DefaultReader(retries=RetryPolicy(attempts=1)))
    for ask in (lambda: value(store, "ten"), lambda: store.exists("ten"), lambda: store.getsize("ten")):
        with pytest.raises(kind):
            await ask()


async def test_a_file_that_changes_between_its_size_and_its_bytes(server):
    file = server.folder / "ten"
    file.write_bytes(b"0123456789")

    class Slow(DefaultReader):
        def probe(self, url, nbytes=1):
            answer = super().probe(url, nbytes)
            file.write_bytes(b"9876543210")
            return answer

    with pytest.raises(SourceChangedError):
        await value(HttpStore(server.url(""), reader=Slow()), "ten", SuffixByteRequest(3))


def test_only_remote_folders(tmp_path):
    with pytest.raises(UsageError, match="http"):
        HttpStore(str(tmp_path))
