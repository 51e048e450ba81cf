"""zlib streams by libdeflate: what zlib gives, or zlib's word on it."""

import zlib

import numpy as np
import pytest
import zarr
from zarr.storage import MemoryStore

from shadowzarr import RfsBuilder, RfsStore, open_rfs
from shadowzarr.zlib_codec import FAST_ZLIB, FastZlibCodec, undeflated

ZLIB = {"name": "numcodecs.zlib", "configuration": {"level": 4}}
VALUES = np.arange(1000, dtype=np.int16) % 37


def served(codecs, stored, data_type="int16", shape=(1000,)):
    builder = RfsBuilder()
    builder.add_array("x", shape=shape, data_type=data_type, chunk_shape=shape, codecs=codecs)
    builder.add_inline_chunk("x", (0,) * len(shape), stored)
    return builder.build()


@pytest.mark.parametrize("before", [[], ["numcodecs.shuffle"], ["numcodecs.fletcher32"] * 3])
def test_values_are_those_of_zlib(before):
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    codecs += [{"name": name, "configuration": {}} for name in before]
    store = MemoryStore()
    zarr.create_array(store, name="x", shape=1000, chunks=1000, dtype="int16", filters=(), compressors=())
    plain = zarr.open_array(store, path="x", mode="r").metadata
    written = zarr.Array.from_dict(
        zarr.storage.StorePath(store, "y"), {**plain.to_dict(), "codecs": [*codecs, ZLIB]}
    )
    written[:] = VALUES
    stored = store._store_dict["y/c/0"].to_bytes()
    array = open_rfs(served([*codecs, ZLIB], stored))["x"]
    assert isinstance(array.metadata.codecs[-1], FastZlibCodec)
    np.testing.assert_array_equal(array[:], VALUES)


def test_text_longer_than_its_elements_seem():
    builder = RfsBuilder()
    codecs = [{"name": "vlen-utf8", "configuration": {}}, ZLIB]
    builder.add_array("x", shape=[1], data_type="string", chunk_shape=[1], codecs=codecs)
    text = "a long text " * 500
    encoded = (1).to_bytes(4, "little") + len(text).to_bytes(4, "little") + text.encode()
    builder.add_inline_chunk("x", (0,), zlib.compress(encoded))
    assert open_rfs(builder.build())["x"][0] == text


@pytest.mark.parametrize("damage", ["cut", "checksum", "empty", "other"])
def test_a_damaged_stream_is_an_error(damage):
    stored = bytearray(zlib.compress(VALUES.tobytes()))
    if damage == "cut":
        stored = stored[:-20]
    elif damage == "checksum":
        stored[-1] ^= 1
    else:
        stored = b"" if damage == "empty" else b"no stream at all"
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, ZLIB]
    with pytest.raises(zlib.error):
        open_rfs(served(codecs, bytes(stored)))["x"][:]


def test_a_stream_is_given_no_more_memory_than_it_can_fill():
    stored = zlib.compress(bytes(1000))
    assert undeflated(stored, 10**12) is None
    assert undeflated(stored, 1000) == bytes(1000)
    assert undeflated(stored, 900) is None  # it holds more, and zlib says so


def test_what_is_written_from_it_says_zlib():
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, ZLIB]
    rfs = served(codecs, zlib.compress(VALUES.tobytes()))
    metadata = open_rfs(rfs)["x"].metadata
    assert metadata.to_dict()["codecs"][-1] == ZLIB
    assert FAST_ZLIB not in str(metadata.to_dict())
    strict = zarr.open_array(RfsStore(rfs, strict_json=True), path="x", mode="r")
    assert type(strict.metadata.codecs[-1]).__name__ == "Zlib"
    np.testing.assert_array_equal(strict[:], VALUES)
