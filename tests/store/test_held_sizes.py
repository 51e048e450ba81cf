"""Chunks in the document that stand for much more than they are: refused before they are decoded."""

import base64
import gzip
import struct
import tracemalloc

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from numcodecs import Blosc, GZip, Zlib, Zstd

from shadowzarr import RfsBuilder, RfsStore
from shadowzarr.errors import InvalidReferencesError
from shadowzarr.store.held_sizes import zstd_size

ZSTD = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
ZLIB = {"name": "numcodecs.zlib", "configuration": {"level": 1}}
BLOSC = {
    "name": "blosc",
    "configuration": {"typesize": 1, "cname": "zstd", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0},
}
CRC = {"name": "crc32c"}
BOMB = np.zeros(2**26, np.uint8)
LIE = bytes.fromhex("28b52ffde0") + struct.pack("<Q", 2**40) + b"\x01\x00\x00"
"""A frame that says it stands for a tebibyte, and is empty."""


def opened(data: bytes, codecs: list, *, shape: tuple[int, ...] = (8,)) -> zarr.Array:
    builder = RfsBuilder()
    builder.add_array(
        "a", shape=shape, data_type="uint8", chunk_shape=shape, codecs=[{"name": "bytes"}, *codecs]
    )
    document = builder.build()
    document["refs"]["a/c/0"] = "base64:" + base64.b64encode(data).decode()
    return zarr.open_array(RfsStore(document), path="a", mode="r")


@pytest.mark.parametrize(
    ("codecs", "data"),
    [
        ([ZSTD], bytes(Zstd().encode(BOMB))),
        ([ZSTD], LIE),
        ([ZSTD], bytes(Zstd().encode(np.zeros(4, np.uint8))) + LIE),
        ([ZSTD, CRC], bytes(Zstd().encode(BOMB)) + b"1234"),
        ([BLOSC], bytes(Blosc("zstd").encode(BOMB))),
        ([GZIP], gzip.compress(BOMB.tobytes(), 9)),
        ([ZLIB], bytes(Zlib(9).encode(BOMB))),
    ],
    ids=["zstd", "a lie", "a lie behind a frame", "zstd and crc32c", "blosc", "gzip", "zlib"],
)
def test_a_bomb_is_refused_without_being_decoded(codecs: list, data: bytes) -> None:
    array = opened(data, codecs)
    tracemalloc.start()
    with pytest.raises(InvalidReferencesError, match=r"chunk \(0,\) of array '/a', held .* no chunk of"):
        array[...]
    assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("codec", "encoder"), [(ZSTD, Zstd()), (BLOSC, Blosc()), (GZIP, GZip()), (ZLIB, Zlib())]
)
@pytest.mark.parametrize("size", [1, 300, 70_000, 3_000_000])
def test_chunks_that_compress_well_are_read(codec: dict, encoder: Zstd, size: int) -> None:
    values = np.zeros(size, np.uint8)
    data = bytes(encoder.encode(values))
    np.testing.assert_array_equal(opened(data, [codec], shape=(size,))[...], values)


@settings(max_examples=25)
@given(st.integers(0, 400_000), st.sampled_from((-3, 1, 3)), st.booleans(), st.integers(0, 9))
def test_frames_say_what_they_stand_for(size: int, level: int, checksum: bool, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 2, size, dtype=np.uint8)
    data = bytes(Zstd(level=level, checksum=checksum).encode(values))
    skippable = struct.pack("<II", 0x184D2A53, 3) + b"abc"
    assert zstd_size(data) == size
    assert zstd_size(skippable + data + data) == 2 * size


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_have_some_size(head: bytes, rest: bytes) -> None:
    assert zstd_size(head) >= 0
    assert zstd_size(bytes.fromhex("28b52ffd") + head + rest) >= 0
