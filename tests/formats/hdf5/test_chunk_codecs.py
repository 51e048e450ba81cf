import zlib

import numpy as np

from shadowzarr.formats.hdf5.chunk_codecs import decode, encode
from shadowzarr.formats.hdf5.h5_filters_to_codecs import CodecChain, Filter, codecs_for, own_codec

CHAIN = codecs_for((Filter(2, (4,)), Filter(1, (4,)), Filter(3)), 4)
DATA = np.arange(100, dtype="<i4").tobytes()


def test_encoding_and_decoding_are_each_other_s_reverse() -> None:
    encoded = encode(CHAIN, DATA)
    assert encoded is not None
    assert encoded != DATA
    assert decode(CHAIN, encoded, len(DATA)) == DATA


def test_the_last_codec_is_undone_first() -> None:
    assert decode(codecs_for((Filter(1, (4,)),), 4), zlib.compress(DATA), len(DATA)) == DATA


def test_damage_gives_nothing() -> None:
    encoded = encode(CHAIN, DATA)
    assert encoded is not None
    assert decode(CHAIN, encoded[:-1] + bytes([encoded[-1] ^ 1]), len(DATA)) is None


def test_another_size_gives_nothing() -> None:
    assert decode(codecs_for((Filter(1, (4,)),), 4), zlib.compress(DATA[:8]), len(DATA)) is None


def test_our_codec_encodes_without_loss() -> None:
    """A scale-offset filter that keeps 2 bits of each element cannot hold these."""
    lossy = own_codec((Filter(6, (2, 2, 100, 0, 4, 1, 0, 0) + (0,) * 12), Filter(1, (4,))))
    encoded = encode(lossy, DATA)
    assert encoded is not None
    assert encoded.endswith(DATA)
    assert decode(lossy, encoded, len(DATA)) == DATA
    small = (np.arange(100, dtype="<i4") % 3).tobytes()
    packed = encode(lossy, small)
    assert packed is not None
    assert len(packed) < 100
    assert decode(lossy, packed, len(small)) == small


def test_a_codec_that_is_not_there_gives_nothing() -> None:
    unknown = CodecChain(({"name": "numcodecs.no_such_codec", "configuration": {}},))
    assert decode(unknown, DATA, len(DATA)) is None
    assert encode(unknown, DATA) is None


def test_blosc_and_zstd() -> None:
    for used in (Filter(32001, (2, 2, 4, 400, 5, 1, 1)), Filter(32015, (3,))):
        chain = codecs_for((used,), 4)
        encoded = encode(chain, DATA)
        assert encoded is not None
        assert decode(chain, encoded, len(DATA)) == DATA
