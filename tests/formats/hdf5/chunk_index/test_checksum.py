import numpy as np
import pytest

from shadowzarr.formats.hdf5.chunk_index.checksum import check
from shadowzarr.formats.hdf5.chunk_index.refusal import DamagedIndexError

NODE = b"Four score and seven years ago" + (0x17770551).to_bytes(4, "little")
"""The hash is that which Jenkins gives for this text and the initial value 0."""


@pytest.mark.parametrize("rows", [1, 20])
def test_a_checksum_follows_its_bytes(rows: int) -> None:
    data = np.tile(np.frombuffer(NODE, np.uint8), (rows, 1))
    check(data)
    check(np.hstack([data, np.ones((rows, 9), np.uint8)]), np.full(rows, len(NODE) - 4))
    check(data[:0])
    for place in range(len(NODE)):
        wrong = data.copy()
        wrong[rows // 2, place] ^= 1
        with pytest.raises(DamagedIndexError, match="a checksum"):
            check(wrong)


def test_bytes_that_cannot_be_written_to() -> None:
    check(np.frombuffer(NODE, np.uint8)[None])
