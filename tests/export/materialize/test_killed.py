"""Materializing killed at random moments, one call after the other, while a reader looks on."""

import os
import zipfile

import h5py
import pytest
from other_processes import Meanwhile, Nursery, moments, skip_without_fork
from work_to_kill import materialize_recording, recorded

from shadowzarr import generate_rfs, write_rfs

KILLS = int(os.environ.get("KILLED_MATERIALIZING", "8"))


def content(place):
    if place.is_file():
        with zipfile.ZipFile(place) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@skip_without_fork()
@pytest.mark.parametrize("suffix", ["", ".zip"])
def test_killed_at_random_moments_and_called_again(tmp_path, suffix):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("data", data=recorded(), chunks=(70, 24), compression="gzip")
    write_rfs(generate_rfs(tmp_path / "x.h5"), tmp_path / "refs")
    references, made, undisturbed = (
        str(tmp_path / "refs"),
        tmp_path / "made",
        tmp_path / f"undisturbed{suffix}",
    )
    materialize_recording(lambda: None, references, str(undisturbed))
    made.mkdir()
    killed = 0
    with (
        Nursery("work_to_kill:materialize_recording") as nursery,
        Meanwhile("work_to_kill:look_at_materialized", str(made)) as reader,
    ):
        _, seconds = nursery.run(references, str(tmp_path / f"first{suffix}"))
        for number, part in enumerate(moments(KILLS, suffix)):
            out = made / f"{number}{suffix}"
            killed += nursery.run(references, str(out), kill_after=part * seconds)[0] != 0
            if not out.exists():
                nursery.run(references, str(out))
                assert not out.with_name(out.name + ".partial").exists()
            assert content(out) == content(undisturbed)
    print(f"{killed} of {KILLS} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert reader.counts["whole"] > 0
