"""The archive's digests, against the definition and against sparse files."""

import hashlib
from itertools import pairwise

import pytest

from shadowzarr.testing.digests import PART_SIZE, FileMemo, dandi_etag, md5, part_ranges, sha256


@pytest.mark.parametrize(
    ("size", "parts", "part"),
    [
        (1, 1, 1),
        (PART_SIZE, 1, PART_SIZE),
        (PART_SIZE + 1, 2, PART_SIZE),
        (102_986_180_753, 1535, PART_SIZE),
        (9_999 * PART_SIZE, 9_999, PART_SIZE),
        (9_999 * PART_SIZE + 1, 10_000, 67_102_154),
        (5 * 2**40, 10_000, 549_755_814),
    ],
)
def test_parts(size, parts, part):
    ranges = part_ranges(size)
    assert (len(ranges), ranges[0].length) == (parts, part)
    assert ranges[-1].stop == size
    assert all(one.stop == two.offset for one, two in pairwise(ranges))


def test_etag_of_one_part(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    expected = hashlib.md5(hashlib.md5(b"abc").digest()).hexdigest()
    assert dandi_etag(tmp_path / "x") == f"{expected}-1"


def test_etag_of_several_parts_some_of_them_holes(tmp_path):
    with (tmp_path / "x").open("wb") as file:
        file.write(b"head")
        file.seek(3 * PART_SIZE)
        file.write(b"tail")
    parts = [b"head" + bytes(PART_SIZE - 4), bytes(PART_SIZE), bytes(PART_SIZE), b"tail"]
    expected = hashlib.md5(b"".join(hashlib.md5(part).digest() for part in parts)).hexdigest()
    assert dandi_etag(tmp_path / "x") == f"{expected}-4"


def test_etag_is_that_of_the_reference(tmp_path):
    reference = pytest.importorskip("dandischema.digests.dandietag", reason="comes with the extra dandi")
    (tmp_path / "x").write_bytes(b"some bytes")
    etag = reference.DandiETag(10)
    etag.update(b"some bytes")
    assert dandi_etag(tmp_path / "x") == etag.as_str()


@pytest.mark.parametrize("size", [1, PART_SIZE, 102_986_180_753, 9_999 * PART_SIZE + 1, 5 * 2**40 - 7])
def test_parts_are_those_of_the_reference(size):
    reference = pytest.importorskip("dandischema.digests.dandietag", reason="comes with the extra dandi")
    parts = reference.PartGenerator.for_file_size(size)
    assert [(part.offset, part.size) for part in parts] == [(r.offset, r.length) for r in part_ranges(size)]


def test_empty_file_has_none(tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(ValueError, match="x is empty"):
        dandi_etag(tmp_path / "x")


def test_plain_digests(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    assert md5(tmp_path / "x") == hashlib.md5(b"abc").hexdigest()
    assert sha256(tmp_path / "x") == hashlib.sha256(b"abc").hexdigest()


def test_memo_computes_once_per_state(tmp_path):
    calls = []
    memo = FileMemo(lambda path: calls.append(path) or path.read_bytes())
    path = tmp_path / "x"
    path.write_bytes(b"1")
    assert [memo(path), memo(path)] == [b"1", b"1"]
    path.write_bytes(b"22")
    assert memo(path) == b"22"
    assert len(calls) == 2
