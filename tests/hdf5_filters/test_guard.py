import zlib

import pytest
from h5py import h5z

from shadowzarr.errors import DamagedSourceError
from shadowzarr.hdf5_filters import pipeline
from shadowzarr.hdf5_filters.guard import the_guard


def test_there_is_one_and_hdf5_knows_it():
    guard = the_guard()
    assert the_guard() is guard
    assert 256 <= guard.number <= 511
    assert h5z.filter_avail(guard.number)


@pytest.mark.parametrize("error", [ValueError, IndexError, OverflowError])
def test_a_check_that_raises_refuses(error):
    """An exception must not leave a ctypes callback: it would be printed, and the chunk believed."""

    def check(data):
        raise error("no")

    filters = ((1, (9,)),)
    kept = pipeline._pipeline(filters, 100)
    checks, kept._checks = kept._checks, [check]
    try:
        with pytest.raises(DamagedSourceError, match="the check failed"):
            pipeline.decode_chunk(filters, zlib.compress(bytes(100)), 100)
    finally:
        kept._checks = checks
    assert pipeline.decode_chunk(filters, zlib.compress(bytes(100)), 100).tobytes() == bytes(100)
