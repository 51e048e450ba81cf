import asyncio
import base64
import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr
from zarr.core.buffer import Buffer, cpu, default_buffer_prototype
from zarr.testing.store import StoreTests

from shadowzarr import RfsStore, open_rfs, write_rfs
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.errors import InvalidReferencesError
from shadowzarr.testing.range_server import RangeServer


class FilledStore(RfsStore):
    """For the conformance tests, which fill a store through itself: puts inline values into the document."""

    supports_writes = True

    def __init__(self, rfs=None, *, read_only=False, **options):
        super().__init__(rfs if rfs is not None else {"version": 1, "refs": {}}, **options)
        self._read_only = read_only

    def __reduce__(self):
        return type(self), (self._rfs,)

    def put(self, key, value):
        self._rfs["refs"][key] = "base64:" + base64.b64encode(value.to_bytes()).decode()
        self._locator._tree = None

    async def set(self, key, value):
        self._check_writable()
        self.put(key, value)


class TestConformance(StoreTests[FilledStore, cpu.Buffer]):
    """The read half of zarr's own tests of a store."""

    store_cls = FilledStore
    buffer_cls = cpu.Buffer

    @pytest.fixture
    def store_kwargs(self):
        return {}

    async def set(self, store: FilledStore, key: str, value: Buffer) -> None:
        store.put(key, value)

    async def get(self, store: FilledStore, key: str) -> Buffer:
        return self.buffer_cls.from_bytes(base64.b64decode(store._rfs["refs"][key].removeprefix("base64:")))

    def test_store_repr(self, store):
        assert str(store) in repr(store)

    def test_store_supports_writes(self, store):
        assert not RfsStore.supports_writes

    def test_store_supports_listing(self, store):
        assert store.supports_listing

    @pytest.mark.parametrize("key_ranges", [[], [("c/0/0", None), ("c/0/1", None)]])
    async def test_get_partial_values(self, store, key_ranges):
        await super().test_get_partial_values(store, key_ranges)

    @pytest.mark.parametrize(("key", "data"), [("c/0", b"\x01\x02")])
    async def test_set(self, store, key, data):
        await super().test_set(store, key, data)

    async def test_set_many(self, store):
        pytest.skip("writes")

    async def test_clear(self, store):
        pytest.skip("writes")


async def value(store, key, byte_range=None):
    found = await store.get(key, default_buffer_prototype(), byte_range)
    return None if found is None else found.to_bytes()


async def test_unlisted_keys_are_none_and_v2_metadata_is_never_looked_for(recording):
    store = RfsStore(recording.build().build())
    assert await value(store, "nothing/zarr.json") is None
    for name in (".zgroup", ".zattrs", ".zarray", ".zmetadata"):
        assert await value(store, name) is None
        assert await value(store, f"slabs/{name}") is None
    assert await value(store, "group/indexed/c/4/0") is None
    assert await value(store, "group/indexed/c/10/0") is None


async def test_exists_and_getsize_read_no_chunk(recording, tmp_path):
    store = RfsStore(recording.build().build())
    recording.path.unlink()
    assert await store.exists("slabs/c/3/0")
    assert not await store.exists("slabs/c/4/0")
    assert await store.exists("group/indexed/c/3/0")
    assert not await store.exists("group/indexed/c/4/0")
    assert await store.getsize("slabs/c/3/0") == 300 * 32
    assert await store.getsize("columns/c/0/0") == 300 * 6
    assert await store.getsize("group/indexed/c/3/0") == 3200
    assert await store.getsize("zarr.json") == len(await value(store, "zarr.json"))
    with pytest.raises(FileNotFoundError):
        await store.getsize("slabs/c/4/0")


async def test_a_store_is_read_only(recording):
    store = RfsStore(recording.build().build())
    assert store.read_only
    assert not store.supports_writes
    assert not store.supports_deletes
    buffer = default_buffer_prototype().buffer.from_bytes(b"")
    with pytest.raises(ValueError, match="read-only"):
        await store.set("zarr.json", buffer)
    with pytest.raises(ValueError, match="read-only"):
        await store.delete("zarr.json")


def test_the_name_is_that_of_the_document(recording):
    rfs = recording.build().build()
    first, second = RfsStore(rfs), RfsStore(copy.deepcopy(rfs))
    assert str(first) == str(second)
    assert first == second
    other = recording.build()
    other.add_group("more")
    assert str(RfsStore(other.build())) != str(first)
    moved = copy.deepcopy(rfs)
    moved["indexes"]["group/indexed"]["index"][0, 0, 0] += 1
    assert RfsStore(moved) != first


def test_a_store_takes_a_path_a_url_or_a_document(recording, tmp_path):
    rfs = recording.build().build()
    write_rfs(rfs, tmp_path / "x.shadowzarr")
    with RangeServer(tmp_path) as server:
        for source in (str(tmp_path / "x.shadowzarr"), tmp_path / "x.shadowzarr", server.url("x.shadowzarr")):
            root = zarr.open_group(RfsStore(source, allow_local_files=True), mode="r")
            np.testing.assert_array_equal(root["group/indexed"][:], recording.indexed())
    store = RfsStore(rfs)
    assert store.rfs is rfs
    copied = pickle.loads(pickle.dumps(RfsStore(tmp_path / "x.shadowzarr")))
    np.testing.assert_array_equal(zarr.open_array(copied, path="slabs", mode="r")[:], recording.data)
    with pytest.raises(InvalidReferencesError, match="version"):
        RfsStore({"a": 1})


def test_options_make_a_difference(recording):
    rfs = recording.build().build()
    assert RfsStore(rfs) != RfsStore(rfs, strict_json=True)
    assert RfsStore(rfs) != RfsStore(rfs, merge_gap=1)
    assert RfsStore(rfs) != zarr.storage.MemoryStore()
    assert RfsStore(rfs) == RfsStore(rfs, reader=DefaultReader())


def test_a_mistaken_entry_is_refused_at_once(recording):
    rfs = recording.build().build()
    rfs["selections"]["columns"]["keep"] = [[0, 1000]]
    with pytest.raises(InvalidReferencesError, match="1000"):
        RfsStore(rfs)


def test_pickle_and_copy(recording):
    group = open_rfs(recording.build().build(), merge_gap=5)
    group["slabs"][0]  # sockets, loops and open files must not be in the way
    for other in (pickle.loads(pickle.dumps(group)), copy.deepcopy(group)):
        assert other.store == group.store
        np.testing.assert_array_equal(other["columns"][:], recording.data[:, [5, 1, 2]])


def _sum(array):
    return int(array[:].sum())


def test_arrays_travel_to_spawned_processes(recording):
    group = open_rfs(recording.build().build())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_sum, [group["slabs"]]) == [int(recording.data.sum())]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_children_read_on(recording, tmp_path):
    write_rfs(recording.build().build(), tmp_path / "x.shadowzarr")
    with RangeServer(tmp_path) as server:
        for source in (tmp_path / "x.shadowzarr", server.url("x.shadowzarr")):
            array = open_rfs(source, allow_local_files=True)["group/indexed"]
            total = _sum(array)
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(_sum, [array] * 4, chunksize=1) == [total] * 4


def test_many_threads_share_a_store(recording):
    group = open_rfs(recording.build().build())

    def check(start):
        rows = slice(start, start + 150)
        return all(
            np.array_equal(group[name][rows], want[rows])
            for name, want in (("slabs", recording.data), ("group/indexed", recording.indexed()))
        )

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(check, range(0, 850, 10)))


async def test_within_a_running_loop(recording):
    group = open_rfs(recording.build().build())
    np.testing.assert_array_equal(group["slabs"][5:9], recording.data[5:9])
    array = await zarr.api.asynchronous.open_array(store=group.store, path="slabs", mode="r", zarr_format=3)
    parts = await asyncio.gather(*(array.getitem(slice(i, i + 10)) for i in range(0, 1000, 10)))
    np.testing.assert_array_equal(np.concatenate(parts), recording.data)


def test_one_store_in_several_loops(recording):
    store = RfsStore(recording.build().build())

    async def read():
        return await asyncio.gather(*(value(store, f"group/indexed/c/{i}/0") for i in range(4)))

    for _ in range(2):
        assert b"".join(asyncio.run(read())) == recording.data[:400].tobytes()
