import math

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.refs import chunk_index, index_codec
from shadowzarr.refs.byte_range import ChunkLocation


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        ((2048, 160), (409, 160, 2)),
        ((2_000_000,), (65_536, 2)),
        ((10, 10), (10, 10, 2)),
        ((3, 100_000), (1, 65_536, 2)),
        ((5, 300, 300), (1, 218, 300, 2)),
        ((), (2,)),
        ((0, 7), (1, 7, 2)),
    ],
)
def test_index_chunks_hold_about_65536_entries(grid, expected):
    assert chunk_index.index_chunk_shape(grid) == expected


@given(st.lists(st.integers(1, 10**6), max_size=5).map(tuple))
def test_an_index_chunk_is_never_larger(grid):
    assert math.prod(chunk_index.index_chunk_shape(grid)) <= 2 * chunk_index.ENTRIES_PER_CHUNK


def test_entries_and_chunks_never_written():
    assert chunk_index.entry_location("u", 5, 7) == ChunkLocation("u", 5, 7)
    assert chunk_index.entry_location("u", chunk_index.MISSING, chunk_index.MISSING) is None


@pytest.mark.parametrize("grid", [(70_000,), (3, 40_000), (2, 3, 4)])
def test_index_chunks_are_what_zarr_reads(grid):
    index = chunk_index.empty_index(grid)
    flat = index.reshape(-1, 2)
    flat[::3, 0] = np.arange(len(flat[::3]), dtype=np.uint64) * 1000
    flat[::3, 1] = 17
    read = zarr.open_array(_store_of(chunk_index.index_array_metadata(grid), index), mode="r")
    np.testing.assert_array_equal(read[...], index)


def test_index_chunks_without_an_entry_are_written_too():
    index = chunk_index.empty_index((200_000,))
    index[70_000] = 5, 6
    assert [c for c, _ in index_codec.encode_index(index)] == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_decoding_gives_the_whole_chunk_back():
    index = chunk_index.empty_index((10,))
    index[3] = 1, 2
    ((_, data),) = index_codec.encode_index(index)
    decoded = index_codec.decode_index_chunk(data, (10, 2))
    np.testing.assert_array_equal(decoded, index)


@pytest.mark.parametrize("data", [b"", b"not blosc at all" * 4])
def test_damaged_index_chunks_are_an_error(data):
    with pytest.raises(ValueError):
        index_codec.decode_index_chunk(data, (10, 2))


def _store_of(metadata, index):
    import json

    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    store = zarr.storage.MemoryStore()
    prototype = default_buffer_prototype()

    def put(key, data):
        sync(store.set(key, prototype.buffer.from_bytes(data)))

    put("zarr.json", json.dumps(metadata).encode())
    for coordinates, data in index_codec.encode_index(index):
        put("c/" + "/".join(map(str, coordinates)), data)
    return store


def test_positions_are_worked_out_one_by_one():
    assert list(chunk_index.positions((2, 0, 3))) == []
    assert list(chunk_index.positions(())) == [()]
    assert list(chunk_index.positions((2, 3))) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    endless = chunk_index.positions((2**62, 2**62))
    assert [next(endless) for _ in range(2)] == [(0, 0), (0, 1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chunk_grid": {"name": "other"}}, "x has a other chunk grid; a chunk index has a regular one"),
        ({"data_type": "int64"}, r"x is a int64 array of shape \(9, 2\) in chunks of \(9, 2\)"),
        ({"shape": [9, 3]}, r"of shape \(9, 3\)"),
        ({"shape": [9]}, "x has chunk_shape"),
        ({"shape": None}, "x has no shape"),
    ],
)
def test_metadata_that_are_not_those_of_an_index(change, message):
    good = chunk_index.index_array_metadata((9,))
    chunk_index.check_index_metadata(good, "x")
    with pytest.raises(InvalidReferencesError, match=message):
        chunk_index.check_index_metadata({**good, **change}, "x")
