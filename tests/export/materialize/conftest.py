"""Files that are materialized."""

import h5py
import numpy as np
import pytest


@pytest.fixture
def recording(tmp_path):
    """An HDF5 file with a recording, times and some words, and its values."""
    path = tmp_path / "recording.h5"
    rng = np.random.default_rng(0)
    data = rng.integers(-2000, 2000, (4000, 24)).astype("i2")
    with h5py.File(path, "w") as file:
        file.create_dataset("wave/data", data=data, chunks=(300, 7), compression="gzip")
        file["wave/data"].attrs["resolution"] = np.nan
        file.create_dataset("wave/times", data=np.arange(4000) / 30.0, chunks=(1000,), shuffle=True)
        file["words"] = np.array(["a", "bb", "ü"], dtype=h5py.string_dtype())
        file["scale"] = 0.195
    return path
