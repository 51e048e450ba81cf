import zlib

import numpy as np
import pytest

from shadowzarr.formats.cannot_represent import CannotRepresentError
from shadowzarr.formats.tiff.segments import Segments
from shadowzarr.formats.tiff.trial import Sample, gives_same, samples_of

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
ZLIB = {"name": "numcodecs.zlib", "configuration": {"level": 1}}


@pytest.fixture
def sample() -> Sample:
    values = np.arange(120, dtype="u2").reshape(1, 10, 12, 1)
    return Sample(zlib.compress(values.tobytes()), values)


def same(codecs: list[dict[str, object]], sample: Sample, rows: int = 10) -> bool:
    return gives_same(codecs, sample, (1, rows, 12, 1), (rows, 12))


def test_codecs_that_are_right(sample: Sample) -> None:
    assert same([BYTES, ZLIB], sample)


@pytest.mark.parametrize(
    "codecs",
    [
        [{"name": "bytes", "configuration": {"endian": "big"}}, ZLIB],  # other values
        [BYTES],  # another length
        [BYTES, {"name": "zstd", "configuration": {"level": 0, "checksum": False}}],  # an error
        [BYTES, {"name": "nobody.knows", "configuration": {}}],  # no codec
    ],
)
def test_codecs_that_are_wrong(codecs: list[dict[str, object]], sample: Sample) -> None:
    assert not same(codecs, sample)


def test_only_what_lies_in_the_page_is_compared(sample: Sample) -> None:
    inside = Sample(sample.data, sample.values[:, :7, :5])
    assert same([BYTES, ZLIB], inside)
    assert not same([BYTES, ZLIB], Sample(sample.data, inside.values + 1))


def test_not_a_number_is_compared_by_its_bits() -> None:
    quiet = np.array([0x7FC00001, 0x7FC00002], "<u4").view("<f4").reshape(1, 1, 2, 1)
    assert gives_same([BYTES], Sample(quiet.tobytes(), quiet), (1, 1, 2, 1), (1, 2))
    other = quiet.view("<u4") + np.uint32(1)
    assert not gives_same([BYTES], Sample(other.tobytes(), quiet), (1, 1, 2, 1), (1, 2))


def test_a_stream_that_is_much_too_long_is_not_decoded() -> None:
    values = np.zeros((1, 1, 4, 1), "u1")
    assert not gives_same([BYTES, ZLIB], Sample(bytes(10**6), values), (1, 1, 4, 1), (1, 4))


def segments(counts: list[list[int]]) -> Segments:
    table = np.array(counts, np.uint64)
    return Segments(np.where(table > 0, 100, 0).astype(np.uint64), table)


def tried(counts: list[list[int]]) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []

    def decode(page: int, segment: int, data: bytes) -> np.ndarray:
        places.append((page, segment))
        return np.zeros(1)

    list(samples_of(segments(counts), decode, lambda page, offset, length: bytes(length)))
    return places


def test_first_last_and_largest_are_tried() -> None:
    assert tried([[5, 6, 5], [5, 9, 0]]) == [(0, 0), (1, 1)]
    assert tried([[0, 6, 5], [99, 9, 8]]) == [(0, 1), (1, 2), (1, 0)]
    assert tried([[7]]) == [(0, 0)]
    assert tried([[0, 0]]) == []


def test_a_huge_segment_is_not_read() -> None:
    assert tried([[5, 2**40, 6]]) == [(0, 0), (0, 2)]


def test_what_tifffile_cannot_decode_is_named() -> None:
    def decode(page: int, segment: int, data: bytes) -> np.ndarray:
        raise ValueError("no such thing")

    with pytest.raises(CannotRepresentError, match="segment 0 of page 1: no such thing"):
        list(samples_of(segments([[0], [4]]), decode, lambda page, offset, length: bytes(length)))
