"""Writing HDF5 files that is killed, and done again: nothing is left, and a file is whole or as it was."""

import os

import h5py
import numpy as np
from other_processes import Nursery, skip_without_fork
from work_to_kill import recorded

from shadowzarr import generate_rfs, to_hdf5, write_rfs

KILLS = int(os.environ.get("KILLED_TO_HDF5", "8"))


@skip_without_fork()
def test_killed_and_written_again(tmp_path):
    values = recorded()
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("data", data=values, chunks=(70, 24), compression="gzip")
    write_rfs(generate_rfs(tmp_path / "x.h5"), tmp_path / "refs")
    (tmp_path / "made").mkdir()
    out, refs = tmp_path / "made" / "new.h5", str(tmp_path / "refs")
    killed = was_left = 0
    with Nursery("work_to_kill:write_hdf5") as nursery:
        for how in ("moments", "steps"):
            for kill in nursery.kills(how, KILLS, refs, str(out)):
                killed += nursery.run(refs, str(out), **kill)[0] != 0
                left = [path for path in out.parent.iterdir() if path != out]
                assert len(left) <= 1, "what is left is used by the next, or taken away"
                was_left += len(left)
                with h5py.File(out) as file:
                    assert np.array_equal(file["data"][...], values)
    to_hdf5(refs, out, overwrite=True)
    assert [path.name for path in out.parent.iterdir()] == ["new.h5"]
    print(f"{killed} killed, {was_left} left a file")
    assert killed >= KILLS // 2
    assert was_left
