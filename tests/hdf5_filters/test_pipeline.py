import os
import threading
import zlib

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.errors import (
    DamagedSourceError,
    InvalidReferencesError,
    MissingDependencyError,
    UnsupportedError,
)
from shadowzarr.hdf5_filters import availability, pipeline
from shadowzarr.hdf5_filters.pipeline import MARK, decode_chunk, encode_chunk, mark_chunk

RNG = np.random.default_rng(0)
STEPS = np.cumsum(RNG.integers(-3, 4, (64, 32)), 0)
STEPS -= STEPS.min()
GZIP = ((1, (4,)),)

BUILT_IN = {
    "gzip": {"compression": 4},
    "shuffle": {"shuffle": True},
    "fletcher32": {"fletcher32": True},
    "all": {"compression": 9, "shuffle": True, "fletcher32": True},
    "lzf": {"compression": "lzf"},
    "lzf+shuffle+fletcher32": {"compression": "lzf", "shuffle": True, "fletcher32": True},
    "szip nn": {"compression": "szip", "compression_opts": ("nn", 8)},
    "szip ec": {"compression": "szip", "compression_opts": ("ec", 16)},
    "scale-offset": {"scaleoffset": 0},
    "scale-offset+gzip": {"scaleoffset": 0, "compression": "gzip"},
}


def plug_ins():
    hdf5plugin = pytest.importorskip("hdf5plugin")
    return {
        "blosc": hdf5plugin.Blosc(),
        "blosc2": hdf5plugin.Blosc2(),
        "lz4": hdf5plugin.LZ4(nbytes=512),
        "bitshuffle": hdf5plugin.Bitshuffle(cname="none"),
        "bitshuffle lz4": hdf5plugin.Bitshuffle(nelems=64, cname="lz4"),
        "bitshuffle zstd": hdf5plugin.Bitshuffle(cname="zstd"),
        "zstd": hdf5plugin.Zstd(),
        "bzip2": hdf5plugin.BZip2(),
    }


@pytest.mark.parametrize("dtype", ["i1", "<u2", ">i4", "<i8", ">u8"])
@pytest.mark.parametrize("name", BUILT_IN)
def test_what_hdf5_brings(chunk_of, name, dtype):
    chunk = chunk_of((STEPS % 100).astype(dtype), **BUILT_IN[name])
    decoded = decode_chunk(chunk.filters, mark_chunk(chunk.stored, chunk.mask), len(chunk.values))
    assert decoded.tobytes() == chunk.values
    if chunk.mask == 0:
        assert decode_chunk(chunk.filters, chunk.stored, len(chunk.values)).tobytes() == chunk.values


@pytest.mark.parametrize("name", BUILT_IN)
def test_encoding_gives_hdf5_s_bytes(chunk_of, name):
    chunk = chunk_of(STEPS.astype("<i4"), **BUILT_IN[name])
    encoded = encode_chunk(chunk.filters, chunk.values)
    assert encoded == (mark_chunk(chunk.stored, chunk.mask) if chunk.mask else chunk.stored)


@pytest.mark.parametrize("name", ["<f4", ">f8"])
def test_scale_offset_of_floats_gives_what_h5py_reads(chunk_of, name):
    chunk = chunk_of((STEPS / 7).astype(name), scaleoffset=2)
    assert decode_chunk(chunk.filters, chunk.stored, len(chunk.values)).tobytes() == chunk.values


@pytest.mark.parametrize("dtype", ["u1", "<i2", ">i4", "<f8"])
def test_plug_ins(chunk_of, dtype):
    for name, compression in plug_ins().items():
        chunk = chunk_of(STEPS.astype(dtype), compression=compression)
        stored = mark_chunk(chunk.stored, chunk.mask) if chunk.mask else chunk.stored
        assert decode_chunk(chunk.filters, stored, len(chunk.values)).tobytes() == chunk.values, name
        encoded = encode_chunk(chunk.filters, chunk.values)
        assert decode_chunk(chunk.filters, encoded, len(chunk.values)).tobytes() == chunk.values, name


def test_lossy_plug_ins_give_what_h5py_reads(chunk_of):
    """Their client data values hold a header that the data type went into; it must not be made anew."""
    hdf5plugin = pytest.importorskip("hdf5plugin")
    for compression in (
        hdf5plugin.Zfp(accuracy=0.01),
        hdf5plugin.Zfp(reversible=True),
        hdf5plugin.SZ3(absolute=0.01),
        hdf5plugin.Sperr(rate=16),
    ):
        chunk = chunk_of(np.cumsum(RNG.normal(size=(64, 32)), 0).astype("f4"), compression=compression)
        assert decode_chunk(chunk.filters, chunk.stored, len(chunk.values)).tobytes() == chunk.values


def test_what_a_filter_cannot_make_smaller_says_so_itself(chunk_of):
    noise = RNG.integers(0, 256, 500, "u1")
    chunk = chunk_of(noise, compression="lzf", shuffle=True)
    assert chunk.mask == 0b10
    encoded = encode_chunk(chunk.filters, chunk.values)
    assert encoded == mark_chunk(chunk.stored, 0b10)
    assert decode_chunk(chunk.filters, encoded, 500).tobytes() == chunk.values


def test_a_chunk_that_happens_to_begin_with_the_mark():
    data = MARK + bytes(100)
    encoded = encode_chunk(((2, (1,)),), data)
    assert encoded != data
    assert decode_chunk(((2, (1,)),), encoded, len(data)).tobytes() == data


def test_masks_do_not_stick(chunk_of):
    """HDF5 keeps the mask of a chunk that is written again with as many bytes."""
    raw = np.arange(8, dtype="<i4").tobytes()
    shuffled = np.frombuffer(raw, "u1").reshape(8, 4).T.tobytes()
    filters = ((2, (4,)),)
    for _ in range(2):
        assert decode_chunk(filters, mark_chunk(raw, 1), 32).tobytes() == raw
        assert decode_chunk(filters, shuffled, 32).tobytes() == raw


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_truncated_chunk_is_an_error(chunk_of, name):
    chunk = chunk_of(STEPS.astype("<i4"), **BUILT_IN[name])
    spare = 1 if name == "scale-offset" else 0  # its last byte is always empty
    for length in (0, 1, 3, 4, 5, 20, 22, len(chunk.stored) // 2, len(chunk.stored) - 1 - spare):
        with pytest.raises(DamagedSourceError):
            decode_chunk(chunk.filters, chunk.stored[:length], len(chunk.values))


def test_a_truncated_chunk_of_a_plug_in_is_an_error(chunk_of):
    for compression in plug_ins().values():
        chunk = chunk_of(STEPS.astype("<i4"), compression=compression)
        for length in (1, 5, 12, 20, len(chunk.stored) // 2, len(chunk.stored) - 1):
            with pytest.raises(DamagedSourceError):
                decode_chunk(chunk.filters, chunk.stored[:length], len(chunk.values))


@pytest.mark.parametrize("pixels", [4, 16, 32])
@pytest.mark.parametrize("dtype", ["u1", "<i4", ">f8"])
def test_szip_does_not_make_up_the_end_of_a_chunk(chunk_of, dtype, pixels):
    """HDF5 gives what was in memory when lines are no multiple of blocks, and the chunk ends within them."""
    values = (100 + np.cumsum(RNG.integers(-1, 2, (40, 50)), 1)).astype(dtype)
    chunk = chunk_of(values, compression="szip", compression_opts=("nn", pixels))
    assert chunk.mask == 0
    assert decode_chunk(chunk.filters, chunk.stored, values.nbytes).tobytes() == chunk.values
    for cut in [*range(1, 40), len(chunk.stored) // 2, len(chunk.stored) - 5]:
        with pytest.raises(DamagedSourceError):
            decode_chunk(chunk.filters, chunk.stored[:-cut], values.nbytes)


def test_zfp_does_not_make_up_the_end_of_a_chunk(chunk_of):
    hdf5plugin = pytest.importorskip("hdf5plugin")
    values = np.cumsum(RNG.normal(size=(64, 32)), 0)
    for options in ({"accuracy": 0.01}, {"rate": 8}, {"precision": 12}, {"reversible": True}):
        chunk = chunk_of(values, compression=hdf5plugin.Zfp(**options))
        assert decode_chunk(chunk.filters, chunk.stored, values.nbytes).tobytes() == chunk.values
        for cut in [*range(8, 30), len(chunk.stored) // 2, len(chunk.stored) - 1]:
            with pytest.raises(DamagedSourceError, match="truncated"):
                decode_chunk(chunk.filters, chunk.stored[:-cut], values.nbytes)


def test_a_wrong_checksum_is_an_error(chunk_of):
    chunk = chunk_of(STEPS.astype("<i4"), compression="lzf", fletcher32=True)
    for place in (0, 100, -1):
        damaged = bytearray(chunk.stored)
        damaged[place] ^= 0x10
        with pytest.raises(DamagedSourceError, match="lzf, fletcher32"):
            decode_chunk(chunk.filters, bytes(damaged), len(chunk.values))
    assert decode_chunk(chunk.filters, chunk.stored, len(chunk.values)).tobytes() == chunk.values


@pytest.mark.parametrize("length", [10, 399, 401, 5000])
def test_another_size_is_an_error(length):
    """HDF5 itself would give what was in memory for what is missing."""
    with pytest.raises(DamagedSourceError, match=f"it decodes to {length:,} bytes, not 400"):
        decode_chunk(GZIP, zlib.compress(bytes(length)), 400)


def test_absurd_sizes_are_refused():
    with pytest.raises(InvalidReferencesError, match="HDF5's have 1 to"):
        decode_chunk(GZIP, b"x", 2**40)
    with pytest.raises(InvalidReferencesError, match="set up for chunks of 17,179,869,180 bytes"):
        decode_chunk(((6, (2, 0, 2**32 - 1, 0, 4, 1, 0, 0, *bytes(12))),), b"x" * 30, 400)
    with pytest.raises(InvalidReferencesError, match="too many"):
        decode_chunk(GZIP * 40, b"x", 400)
    with pytest.raises(InvalidReferencesError, match="cannot have these filters"):
        decode_chunk(((3, (4,) * 20_000),), b"x", 400)
    with pytest.raises(DamagedSourceError, match="szip announces"):
        decode_chunk(((4, (141, 16, 32, 64)),), b"\xff" * 30, 400)


def test_a_missing_plug_in_is_named(monkeypatch):
    with pytest.raises(MissingDependencyError, match=r"HDF5 filter 54321 \(54321\).*HDF5_PLUGIN_PATH"):
        decode_chunk(((54321, ()),), b"x", 4)
    monkeypatch.setattr(availability, "is_available", lambda number: number != 32008)
    with pytest.raises(MissingDependencyError, match=r"bitshuffle \(32008\).*pip install .*\[hdf5\]"):
        decode_chunk(((32008, (0, 5, 4, 0, 2)),), b"x", 999)


def test_a_filter_that_can_only_be_undone():
    pytest.importorskip("hdf5plugin")
    with pytest.raises(UnsupportedError, match="the filter sz can only be undone here"):
        encode_chunk(((32017, (3, 0, 128, 8, 8)),), bytes(4 * 128 * 64))


def test_files_in_memory_are_few_and_small():
    for number in range(40):
        size = 1000 + number
        decode_chunk(GZIP, zlib.compress(bytes(size)), size)
    assert len(pipeline._pipelines) == pipeline._KEPT_PIPELINES
    noise = RNG.bytes(2 * pipeline._KEPT_BYTES)
    for _ in range(3):
        assert decode_chunk(GZIP, zlib.compress(noise, 0), len(noise)).tobytes() == noise
    for number in range(50):
        some = noise[: 100_000 + number]
        decode_chunk(GZIP, zlib.compress(some + bytes(100_000 - number), 1), 200_000)
    assert pipeline._pipelines[GZIP, 200_000]._file.get_filesize() < 4 * 100_000


def test_open_objects_do_not_grow():
    def count():
        return h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_ALL)

    encode_chunk(GZIP, bytes(100))
    before = count()
    for _ in range(20):
        encode_chunk(GZIP, bytes(100))
        with pytest.raises(DamagedSourceError):
            decode_chunk(GZIP, b"junk", 100)
    assert count() <= before + 4


def test_threads_get_their_own_values():
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            size = int(rng.choice([100, 200, 300]))
            data = rng.bytes(size)
            if decode_chunk(GZIP, zlib.compress(data), size).tobytes() != data:
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_decodes_too():
    decode_chunk(GZIP, zlib.compress(bytes(50)), 50)
    child = os.fork()
    if child == 0:
        os._exit(0 if decode_chunk(GZIP, zlib.compress(b"x" * 50), 50).tobytes() == b"x" * 50 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert decode_chunk(GZIP, zlib.compress(bytes(50)), 50).tobytes() == bytes(50)


@given(
    data=st.binary(min_size=1, max_size=400),
    repeat=st.integers(1, 20),
    filters=st.lists(
        st.sampled_from([(1, (1,)), (2, (2,)), (2, (8,)), (3, ()), (32000, (4, 261, 0))]),
        min_size=1,
        max_size=5,
    ),
)
def test_any_order_of_lossless_filters(data, repeat, filters):
    data *= repeat
    encoded = encode_chunk(tuple(filters), data)
    assert decode_chunk(tuple(filters), encoded, len(data)).tobytes() == data


@pytest.mark.parametrize(
    "idle", [(5, (8, 1, 4, 1, 1, 0, 8, 0)), (6, (2, 8, 4, 0, 1, 1, *[0] * 14))], ids=["n-bit", "scale-offset"]
)
def test_filters_that_pass_a_chunk_on(idle):
    filters = (idle, *GZIP)
    assert decode_chunk(filters, zlib.compress(b"\1\2\3\4"), 4).tobytes() == b"\1\2\3\4"
    stored = encode_chunk(filters, b"\1\2\3\4")
    assert decode_chunk(filters, stored, 4).tobytes() == b"\1\2\3\4"
    for wrong in (b"\1\2\3", b"\1\2\3\4\5"):
        with pytest.raises(DamagedSourceError, match="it decodes to"):
            decode_chunk(filters, zlib.compress(wrong), 4)


def test_filters_that_make_a_small_chunk_larger():
    plug_ins()
    filters = ((2, (1,)), (32026, (1, 1, 1, 1, 5, 1, 0)), (32001, (2, 2, 1, 250, 5, 1, 0)))
    assert decode_chunk(filters, encode_chunk(filters, b"\5"), 1).tobytes() == b"\5"
