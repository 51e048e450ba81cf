import json
import math

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from zarr.errors import UnknownCodecError
from zarr.registry import get_codec_class
from zarr.storage import MemoryStore, WrapperStore

from shadowzarr.codecs import PARTIAL_BYTES, Block, PartialBytesCodec, register_named

SHAPE, CHUNKS = (20, 7), (6, 4)


class Watched(WrapperStore):
    """Notes the chunks that are asked for."""

    def __init__(self, store, asked=None):
        super().__init__(store)
        self.asked = [] if asked is None else asked

    def _with_store(self, store):
        return Watched(store, self.asked)

    async def get(self, key, prototype, byte_range=None):
        if "/c/" in key:
            self.asked.append((key, None if byte_range is None else (byte_range.start, byte_range.end)))
        return await self._store.get(key, prototype, byte_range)


def stored(values, **options):
    """An array in memory whose metadata names the codec that reads parts, and what is asked of its store."""
    store = MemoryStore()
    array = zarr.create_array(
        store, name="a", shape=values.shape, dtype=values.dtype, chunks=CHUNKS, compressors=None, **options
    )
    array[...] = values
    document = json.loads(store._store_dict["a/zarr.json"].to_bytes())
    document["codecs"][-1]["name"] = PARTIAL_BYTES
    store._store_dict["a/zarr.json"] = zarr.core.buffer.cpu.Buffer.from_bytes(json.dumps(document).encode())
    watched = Watched(store)
    return zarr.open_array(watched, path="a", mode="r"), watched.asked


VALUES = np.arange(1, 141, dtype="int32").reshape(SHAPE)


@pytest.mark.parametrize(
    ("selection", "asked"),
    [
        (np.s_[1:3, 2], [("a/c/0/0", (24, 44))]),
        (np.s_[2, 0:4], [("a/c/0/0", (32, 48))]),
        (np.s_[-1, -1], [("a/c/3/1", (24, 28))]),
        (np.s_[0:6, 0:4], [("a/c/0/0", None)]),
        (np.s_[1:6:2, 0:2], [("a/c/0/0", (16, 88))]),
        (np.s_[18:20, 4:7], [("a/c/3/1", (0, 28))]),
        (np.s_[5:7, 1], [("a/c/0/0", (84, 88)), ("a/c/1/0", (4, 8))]),
    ],
)
def test_ranges(selection, asked):
    array, seen = stored(VALUES)
    np.testing.assert_array_equal(array[selection], VALUES[selection])
    assert sorted(seen) == asked


def test_uncommon_indexing_takes_whole_chunks():
    array, seen = stored(VALUES)
    np.testing.assert_array_equal(array.oindex[[3, 9], [1, 6]], VALUES[np.ix_([3, 9], [1, 6])])
    np.testing.assert_array_equal(array.vindex[[3, 9], [1, 6]], VALUES[[3, 9], [1, 6]])
    np.testing.assert_array_equal(array.oindex[3, [1, 6]], VALUES[3, [1, 6]])
    np.testing.assert_array_equal(array.get_mask_selection(VALUES % 2 == 0), VALUES[VALUES % 2 == 0])
    np.testing.assert_array_equal(array.blocks[1, 0], VALUES[6:12, :4])
    assert {byte_range for _, byte_range in seen} == {None}


axis = st.one_of(
    st.integers(-7, 6),
    st.tuples(st.integers(-8, 8), st.integers(-8, 8), st.integers(1, 3)).map(lambda p: slice(*p)),
)


@given(axis, axis)
def test_as_numpy_selects(rows, columns):
    array, _ = stored(VALUES)
    np.testing.assert_array_equal(array[rows, columns], VALUES[rows, columns])


@pytest.mark.parametrize("dtype", ["int8", "bool", "complex64", "<U3", [("x", "i4"), ("y", "f8")]])
def test_types(dtype):
    values = np.arange(140).reshape(SHAPE).astype(dtype)
    array, seen = stored(values)
    np.testing.assert_array_equal(array[3:5, 1], values[3:5, 1])
    np.testing.assert_array_equal(array[...], values)
    assert seen[0][1] is not None


def test_big_endian():
    array, _ = stored(VALUES, serializer=zarr.codecs.BytesCodec(endian="big"))
    np.testing.assert_array_equal(array[3:15, 2:6], VALUES[3:15, 2:6])


def test_a_missing_chunk_is_fill_value():
    values = VALUES.copy()
    values[:6] = 0  # zarr does not write chunks of fill value
    array, seen = stored(values)
    assert array[3, 2] == 0
    assert seen == [("a/c/0/0", (56, 60))]


def test_metadata_written_from_it_says_bytes(tmp_path):
    array, _ = stored(VALUES)
    assert array.metadata.to_dict()["codecs"] == ({"name": "bytes", "configuration": {"endian": "little"}},)
    copied = zarr.from_array(tmp_path / "copy", data=array)
    assert "shadowzarr" not in (tmp_path / "copy" / "zarr.json").read_text()
    np.testing.assert_array_equal(copied[...], VALUES)


def test_other_arrays_are_not_touched():
    assert get_codec_class("bytes") is zarr.codecs.BytesCodec
    assert get_codec_class(PARTIAL_BYTES) is PartialBytesCodec


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.data())
def test_block_covers_what_is_selected(shape, data):
    elements = np.arange(math.prod(shape))
    selection = tuple(
        data.draw(
            st.one_of(
                st.integers(0, extent - 1), st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(1, 3))
            )
        )
        for extent in shape
    )
    selection = tuple(slice(*part) if isinstance(part, tuple) else part for part in selection)
    want = elements.reshape(shape)[selection]
    block = Block.from_selection(selection, shape)
    if want.size == 0:
        assert block is None
        return
    part = elements[block.first : block.first + block.covers]
    np.testing.assert_array_equal(block.pick(part), want)
    assert (part[0], part[-1]) == (want.min(), want.max())


@pytest.mark.parametrize(
    "selection", [np.s_[::-1, :], ([1, 2], slice(None)), (slice(None),), (True, 0), (5, 0)]
)
def test_block_of_anything_else(selection):
    assert Block.from_selection(selection, (4, 4)) is None


def test_codecs_of_imagecodecs_are_registered_where_nothing_announces_them(monkeypatch):
    imagecodecs = pytest.importorskip("imagecodecs.zarr")
    registered = []

    def unknown(name):
        raise UnknownCodecError(name)

    monkeypatch.setattr("shadowzarr.codecs.get_codec_class", unknown)
    monkeypatch.setattr(imagecodecs, "register_codecs", lambda names, verbose: registered.extend(names))
    register_named(
        [{"name": "bytes"}, {"name": "imagecodecs_lzw", "configuration": {}}, "imagecodecs_png", 7]
    )
    assert registered == ["lzw", "png"]
