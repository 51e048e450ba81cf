"""Stored chunks: undoing the usual filters, and which chunks are compared."""

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5.chunk_table import ChunkTable
from shadowzarr.formats.hdf5.read_ahead.compared_chunks import compared_chunks
from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError
from shadowzarr.formats.hdf5.read_ahead.raw_chunks import decoded

SHUFFLE, DEFLATE, FLETCHER32, LZF = (2, (8,)), (1, (4,)), (3, ()), (32000, ())


@pytest.mark.parametrize(
    ("options", "filters"),
    [
        ({}, ()),
        ({"compression": 4}, (DEFLATE,)),
        ({"compression": 4, "shuffle": True}, (SHUFFLE, DEFLATE)),
        ({"compression": 4, "shuffle": True, "fletcher32": True}, (SHUFFLE, DEFLATE, FLETCHER32)),
    ],
)
def test_what_hdf5_stored(tmp_path, options, filters):
    values = np.arange(100) ** 3
    with h5py.File(tmp_path / "a.h5", "w") as file:
        data = file.create_dataset("x", data=values, chunks=(100,), **options)
        mask, stored = data.id.read_direct_chunk((0,))
    assert decoded(stored, filters, mask, values.nbytes) == values.tobytes()


def test_filters_that_were_skipped():
    raw = bytes(range(16))
    assert decoded(raw, (SHUFFLE, DEFLATE), 0b11, 16) == raw
    assert decoded(bytes(range(0, 16, 2)) + bytes(range(1, 16, 2)), ((2, (2,)), DEFLATE), 0b10, 16) == raw


def test_no_more_than_a_chunk_is_made():
    import zlib

    assert len(decoded(zlib.compress(bytes(10**7)), (DEFLATE,), 0, 100)) == 100


def test_what_is_left_to_hdf5():
    for data, filters in ((b"xx", (LZF,)), (b"not deflated", (DEFLATE,))):
        with pytest.raises(NotUnderstoodError):
            decoded(data, filters, 0, 100)


def table(nbytes, masks=None):
    count = len(nbytes)
    return ChunkTable(
        np.arange(count)[:, None],
        np.arange(count, dtype=np.uint64) * 1000,
        np.array(nbytes, np.uint64),
        np.array(masks or [0] * count, np.uint32),
    )


def test_smallest_and_largest_chunk_are_compared():
    assert compared_chunks(table([5, 3, 9, 4]), (10,), (40,), (LZF,)) == [1, 2]
    assert compared_chunks(table([5]), (10,), (40,), (LZF,)) == [0]
    assert compared_chunks(table([]), (10,), (40,), (LZF,)) == []


def test_whole_chunks_with_the_usual_mask_are_compared():
    assert compared_chunks(table([5, 3, 9, 1]), (10,), (35,), (LZF,)) == [1, 2]
    assert compared_chunks(table([5, 3, 9, 4], [0, 1, 0, 0]), (10,), (40,), (LZF,)) == [2, 3]


def test_usual_filters_in_their_order_need_no_comparison():
    for filters in ((), (DEFLATE,), (SHUFFLE, DEFLATE), (SHUFFLE, DEFLATE, FLETCHER32)):
        assert compared_chunks(table([5, 3]), (10,), (20,), filters) == []
    assert compared_chunks(table([5, 3]), (10,), (20,), (DEFLATE, SHUFFLE)) == [0, 1]
