import asyncio
import pickle

import numpy as np
import zarr
from zarr.core.chunk_key_encodings import DefaultChunkKeyEncoding

from shadowzarr import RfsStore, open_rfs
from shadowzarr.store import announced as subject
from shadowzarr.store.announced import AnnouncedChunkKeys, announced


def keys(encoding, *numbers):
    return [encoding.encode_chunk_key((number,)) for number in numbers]


async def test_keys_of_one_read_are_known_to_the_tasks_it_starts():
    encoding = AnnouncedChunkKeys()

    async def ask():
        return dict(announced().chunks)

    assert keys(encoding, 3, 1) == ["c/3", "c/1"]
    assert await asyncio.create_task(ask()) == {"c/3": (3,), "c/1": (1,)}


async def test_the_next_read_of_a_task_begins_anew():
    encoding = AnnouncedChunkKeys()
    keys(encoding, 0, 1)
    first = announced()
    keys(encoding, 1, 2)  # in the same turn: a chunk is asked for once in a read
    assert announced() is not first
    assert list(announced().chunks) == ["c/1", "c/2"]
    await asyncio.sleep(0)
    keys(encoding, 3)
    assert list(announced().chunks) == ["c/3"]
    keys(AnnouncedChunkKeys(), 4)  # another array
    assert list(announced().chunks) == ["c/4"]


async def test_a_task_does_not_add_to_the_read_of_another():
    encoding = AnnouncedChunkKeys()
    keys(encoding, 0)

    async def read():
        keys(encoding, 1)
        return list(announced().chunks)

    assert await asyncio.create_task(read()) == ["c/1"]
    assert list(announced().chunks) == ["c/0"]


async def test_a_very_long_list_is_cut(monkeypatch):
    monkeypatch.setattr(subject, "MOST_KEYS", 2)
    assert len(keys(AnnouncedChunkKeys(), 0, 1, 2)) == 3
    assert len(announced().chunks) == 2


def test_outside_of_a_loop_nothing_is_announced():
    keys(AnnouncedChunkKeys(), 0)
    assert announced() is None


def test_it_is_the_default_encoding_to_everybody_else(recording, tmp_path):
    own, other = AnnouncedChunkKeys(separator="."), DefaultChunkKeyEncoding(separator=".")
    assert own == other
    assert other == own
    assert hash(own) == hash(AnnouncedChunkKeys(separator="."))
    assert own != DefaultChunkKeyEncoding()
    assert own.to_dict() == other.to_dict()
    assert pickle.loads(pickle.dumps(own)) == own
    assert own.decode_chunk_key(own.encode_chunk_key((1, 2))) == (1, 2)
    array = open_rfs(recording.build().build())["slabs"]
    copied = zarr.from_array(tmp_path / "copy.zarr", data=array)
    assert '"shadowzarr' not in (tmp_path / "copy.zarr" / "zarr.json").read_text()
    np.testing.assert_array_equal(copied[:], recording.data)


def test_readers_of_strict_json_see_the_documents_own_metadata(recording):
    store = RfsStore(recording.build().build(), strict_json=True)
    array = zarr.open_array(store, path="slabs", mode="r")
    assert type(array.metadata.chunk_key_encoding) is DefaultChunkKeyEncoding
