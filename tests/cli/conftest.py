"""Files that the commands are called with."""

import h5py
import numpy as np
import pytest
from command_line import add_times, call


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An HDF5 file, one with something that has no form, and references of both."""
    folder = tmp_path_factory.mktemp("files")
    with h5py.File(folder / "good.h5", "w") as file:
        data = np.arange(40_000, dtype="<i2").reshape(4000, 10)
        file.create_dataset("wave/data", data=data, chunks=(400, 10))
        file["wave/data"].attrs["unit"] = "mV"
        file["name"] = "a name"
        file["link"] = h5py.SoftLink("/wave")
    with h5py.File(folder / "partly.h5", "w") as file:
        file["x"] = np.arange(500.0)
        add_times(file, "times")
    (folder / "text.h5").write_text("this is no HDF5 file\n" * 100)
    (folder / "cut.h5").write_bytes((folder / "good.h5").read_bytes()[:3000])
    assert call("generate", folder / "good.h5", folder / "good").returncode == 0
    return folder
