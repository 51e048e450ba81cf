"""Blosc chunks: zarr's own values, and an error for damaged bytes, which would end the process."""

import contextlib
import multiprocessing
import os
import struct

import numpy as np
import pytest
import zarr
from numcodecs import Blosc

from shadowzarr import RfsBuilder, RfsStore, open_rfs
from shadowzarr.blosc_codec import CHECKED_BLOSC, CheckedBloscCodec
from shadowzarr.errors import DamagedSourceError

VALUES = (np.arange(5_000, dtype=np.int16) % 37).astype("<i2")
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
BLOSC = {
    "name": "blosc",
    "configuration": {"typesize": 2, "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0},
}
STORED = bytes(Blosc(cname="lz4").encode(VALUES))


@pytest.fixture
def referenced(tmp_path):
    """References to one chunk in a file, behind Blosc."""

    def make(stored, *, codecs=(BYTES, BLOSC), data_type="int16", shape=VALUES.shape):
        path = tmp_path / "x.bin"
        path.write_bytes(stored)
        builder = RfsBuilder()
        builder.add_array("x", shape=shape, data_type=data_type, chunk_shape=shape, codecs=list(codecs))
        builder.add_chunk("x", (0,) * len(shape), str(path), 0, len(stored))
        return builder.build()

    return make


def test_values_are_those_of_zarr_and_what_is_written_from_it_says_blosc(referenced):
    rfs = referenced(STORED)
    array = open_rfs(rfs)["x"]
    assert isinstance(array.metadata.codecs[-1], CheckedBloscCodec)
    np.testing.assert_array_equal(array[:], VALUES)
    assert array.metadata.to_dict()["codecs"][-1]["name"] == "blosc"
    assert CHECKED_BLOSC not in str(array.metadata.to_dict())
    strict = zarr.open_array(RfsStore(rfs, strict_json=True), path="x", mode="r")
    assert type(strict.metadata.codecs[-1]) is zarr.codecs.BloscCodec


def test_text_longer_than_its_elements_seem(referenced):
    text = "a long text " * 200_000
    encoded = struct.pack("<II", 1, len(text)) + text.encode()
    stored = bytes(Blosc(cname="zstd").encode(encoded))
    rfs = referenced(
        stored, codecs=({"name": "vlen-utf8", "configuration": {}}, BLOSC), data_type="string", shape=(1,)
    )
    assert open_rfs(rfs)["x"][0] == text


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (STORED[:10], "no Blosc buffer"),
        (STORED[:-1], "bytes of Blosc"),
        (STORED[:4] + struct.pack("<I", 2**31 - 1) + STORED[8:], "no chunk of this array"),
        (STORED[:8] + bytes(4) + STORED[12:], "blocks of 0"),
        (STORED[:3] + b"\0" + STORED[4:], "elements of 0"),
        (STORED[:1] + b"\xff" + STORED[2:], "damaged"),
    ],
)
def test_a_damaged_chunk_is_an_error(damaged, said, referenced):
    with pytest.raises(DamagedSourceError, match=said):
        open_rfs(referenced(damaged))["x"][:]


def _read_mutated(count, place):
    """Read a file again and again, with a few bytes of it changed each time."""
    random = np.random.default_rng(7)
    builder = RfsBuilder()
    builder.add_array(
        "x", shape=VALUES.shape, data_type="int16", chunk_shape=VALUES.shape, codecs=[BYTES, BLOSC]
    )
    builder.add_chunk("x", (0,), str(place), 0, len(STORED))
    array = open_rfs(builder.build())["x"]
    for _ in range(count):
        stored = bytearray(STORED)
        for at in random.integers(0, 40, random.integers(1, 4)):
            stored[at] = random.integers(256)
        place.write_bytes(stored)
        with contextlib.suppress(DamagedSourceError):
            array[:]


def test_no_damage_ends_the_process(tmp_path):
    count = int(os.environ.get("BLOSC_EXAMPLES", "400"))
    child = multiprocessing.get_context("spawn").Process(
        target=_read_mutated, args=(count, tmp_path / "x.bin")
    )
    child.start()
    child.join()
    assert child.exitcode == 0
