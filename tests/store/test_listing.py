import numpy as np

from shadowzarr import RfsBuilder, RfsStore, load_rfs, open_rfs, write_rfs


async def collect(keys):
    return [key async for key in keys]


def expected_chunks():
    return {
        *(f"slabs/c/{i}/0" for i in range(4)),
        *(f"columns/c/{i}/0" for i in range(4)),
        *(f"group/indexed/c/{i}/0" for i in range(10) if i != 4),
    }


METADATA = {"zarr.json", "slabs/zarr.json", "group/zarr.json", "group/indexed/zarr.json", "columns/zarr.json"}


async def test_every_key_is_listed_once_and_can_be_had(recording, tmp_path):
    write_rfs(recording.build().build(), tmp_path / "x.shadowzarr")
    write_rfs(recording.build().build(), tmp_path / "x.json")
    for place in ("x.shadowzarr", "x.json"):
        store = RfsStore(load_rfs(tmp_path / place))
        keys = await collect(store.list())
        assert len(keys) == len(set(keys))
        assert set(keys) == METADATA | expected_chunks()
        assert all([await store.exists(key) for key in keys])
        for prefix in ("", "group", "group/", "group/indexed/c/1", "slabs/c", "s", "none"):
            assert set(await collect(store.list_prefix(prefix))) == {k for k in keys if k.startswith(prefix)}


async def test_chunks_that_two_rules_give_are_listed_once(recording):
    builder = recording.build()
    builder.add_chunk("slabs", (1, 0), "u", 0, 9600)
    builder.add_index("slabs", "u", np.zeros((4, 1, 2), dtype=np.uint64))
    rfs = builder.build()
    rfs["gen"] += rfs["gen"]  # no builder of ours writes it, but others may
    keys = await collect(RfsStore(rfs).list_prefix("slabs/c/"))
    assert sorted(keys) == [f"slabs/c/{i}/0" for i in range(4)]


async def test_folders(recording, tmp_path):
    store = RfsStore(recording.build().build())
    assert await collect(store.list_dir("")) == ["zarr.json", "slabs", "group", "columns"]
    assert await collect(store.list_dir("group")) == ["zarr.json", "indexed"]
    assert await collect(store.list_dir("slabs/")) == ["zarr.json", "c"]
    assert await collect(store.list_dir("slabs/c")) == ["0", "1", "2", "3"]
    assert await collect(store.list_dir("group/indexed/c")) == [str(i) for i in range(10) if i != 4]
    assert await collect(store.list_dir("group/indexed/c/3")) == ["0"]
    assert await collect(store.list_dir("none")) == []


async def test_an_array_at_the_root():
    builder = RfsBuilder()
    builder.add_array("a", shape=[4], data_type="int8", chunk_shape=[2])
    rfs = builder.build()
    rfs["refs"] = {"zarr.json": rfs["refs"]["a/zarr.json"]}
    rfs["indexes"] = {"": {"url": "u", "index": np.zeros((2, 2), dtype=np.uint64)}}
    store = RfsStore(rfs)
    assert await collect(store.list_dir("")) == ["zarr.json", "c"]
    assert await collect(store.list_dir("c")) == ["0", "1"]
    assert await collect(store.list()) == ["zarr.json", "c/0", "c/1"]


async def test_groups_list_without_reading_an_index(recording, tmp_path):
    rfs = recording.build().build()
    rfs["indexes"]["group/indexed"] = {"url": "u", "index": str(tmp_path / "none")}
    root = open_rfs(rfs)
    assert list(root.keys()) == ["slabs", "group", "columns"]
    members = {name for name, _ in root.members(max_depth=None)}
    assert members == {"slabs", "group", "group/indexed", "columns"}
    assert "indexed" in str(root["group"].tree())
    assert await collect(root.store.list_dir("group/indexed")) == ["zarr.json", "c"]


def test_initialized_chunks_are_counted_exactly(recording):
    root = open_rfs(recording.build().build())
    assert root["group/indexed"].nchunks_initialized == 9
    assert root["slabs"].nchunks_initialized == 4


def test_thousands_of_groups_are_listed_from_memory():
    builder = RfsBuilder()
    for number in range(3000):
        builder.add_group(f"g{number}")
    root = open_rfs(builder.build())
    assert list(root.keys()) == [f"g{number}" for number in range(3000)]
    assert len(list(root.members())) == 3000
