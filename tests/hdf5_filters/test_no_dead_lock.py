"""Reading must not hang, whoever holds h5py's lock."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr

from shadowzarr.hdf5_filters.codec import HDF5FiltersCodec

HANGS_AFTER = 300
IN_ONE_PROCESS = (  # the first one starts everything, under the lock
    "visititems",
    "with_phil",
    "file_object",
    "while_h5py_reads",
    "with_phil_in_threads",
    "running_loop",
    "writing",
    "collected",
)
VALUES = np.arange(30 * 40, dtype="<i4").reshape(30, 40)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    place = tmp_path_factory.mktemp("stored")
    array = zarr.create_array(
        place / "a.zarr",
        name="a",
        shape=VALUES.shape,
        chunks=(7, 11),
        dtype=VALUES.dtype,
        compressors=[HDF5FiltersCodec(((2, (4,)), (32000, (4, 261, 308))))],
    )
    array[...] = VALUES
    np.save(place / "values.npy", VALUES)
    return place


@pytest.mark.parametrize(
    "names", [IN_ONE_PROCESS, ("spawned",), ("forked",), ("nothing_of_h5py",)], ids=" ".join
)
def test_it_does_not_hang(stored, names):
    script = Path(__file__).with_name("scenarios.py")
    done = subprocess.run(
        [sys.executable, script, stored / "a.zarr", stored / "values.npy", *names],
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,  # what had been printed until then is in the error
    )
    assert done.stdout.split() == list(names), done.stderr[-3000:]
    assert done.returncode == 0
