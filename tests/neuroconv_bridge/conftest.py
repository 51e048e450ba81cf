"""What readers of recordings leave open is closed here, and not during some test of something else."""

import gc
import warnings

import pytest


@pytest.fixture(scope="module", autouse=True)
def files_that_readers_leave_open():
    """roiextractors closes no TIFF file; the collector does, which warns of each."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
