import numpy as np
import pytest

from shadowzarr.formats.hdf5.chunk_index.checksum import check, lookup3
from shadowzarr.formats.hdf5.chunk_index.refusal import DamagedIndexError

TEXT = b"Four score and seven years ago"
HASH = 0x17770551
"""As Jenkins gives it for that text and the initial value 0."""


@pytest.mark.parametrize("rows", [1, 7, 8, 50])
def test_a_published_hash(rows: int) -> None:
    data = np.tile(np.frombuffer(TEXT, np.uint8), (rows, 1))
    assert lookup3(data, np.full(rows, len(TEXT))).tolist() == [HASH] * rows


def test_one_row_or_many_and_any_length() -> None:
    random = np.random.default_rng(0)
    rows = random.integers(0, 256, (200, 100), np.uint8)
    lengths = random.integers(1, 101, 200)
    lengths[:30] = np.arange(1, 31)
    together = lookup3(rows, lengths)
    alone = [int(lookup3(rows[k : k + 1], lengths[k : k + 1])[0]) for k in range(200)]
    assert together.tolist() == alone
    assert len(set(alone)) == 200


@pytest.mark.parametrize("rows", [1, 20])
def test_a_checksum_follows_its_bytes(rows: int) -> None:
    node = np.frombuffer(TEXT + HASH.to_bytes(4, "little"), np.uint8)
    data = np.tile(node, (rows, 1))
    check(data)
    longer = np.hstack([data, np.ones((rows, 9), np.uint8)])
    check(longer, len(TEXT))
    check(longer, np.full(rows, len(TEXT)))
    check(data[:0])
    for place in range(len(node)):
        wrong = data.copy()
        wrong[rows // 2, place] ^= 1
        with pytest.raises(DamagedIndexError, match="a checksum"):
            check(wrong)
