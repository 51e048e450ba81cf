"""Materializing that is killed and called again, while a reader looks on."""

import os
import zipfile

import h5py
import pytest
from other_processes import Meanwhile, Nursery, skip_without_fork
from work_to_kill import recorded

from shadowzarr import generate_rfs, write_rfs

KILLS = int(os.environ.get("KILLED_MATERIALIZING", "8"))


def content(place):
    if place.is_file():
        with zipfile.ZipFile(place) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.fixture
def references(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("data", data=recorded(), chunks=(70, 24), compression="gzip")
    write_rfs(generate_rfs(tmp_path / "x.h5"), tmp_path / "refs")
    (tmp_path / "made").mkdir()
    return str(tmp_path / "refs")


@skip_without_fork()
@pytest.mark.parametrize("how", ["moments", "steps"])
@pytest.mark.parametrize("suffix", ["", ".zip"])
def test_killed_and_called_again(tmp_path, references, suffix, how):
    made, undisturbed = tmp_path / "made", tmp_path / f"undisturbed{suffix}"
    killed = 0
    with (
        Nursery("work_to_kill:materialize_recording") as nursery,
        Meanwhile("work_to_kill:look_at_materialized", str(made)) as reader,
    ):
        kills = nursery.kills(how, KILLS, references, str(undisturbed))
        for number, kill in enumerate(kills):
            out = made / f"{number}{suffix}"
            killed += nursery.run(references, str(out), **kill)[0] != 0
            if not out.exists():
                nursery.run(references, str(out))
                assert not out.with_name(out.name + ".partial").exists()
            assert content(out) == content(undisturbed)
    print(f"{killed} of {len(kills)} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert reader.counts["whole"] > 0
