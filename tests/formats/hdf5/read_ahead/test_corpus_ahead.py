"""Every real file, in blocks of 512 bytes: the same document with and without reading ahead."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from . import compare_child

SUFFIXES = {".h5", ".nwb", ".nc", ".nc4", ".mat", ".hdf5", ".hdf", ".he5"}


def compared(files: list[Path]) -> dict[str, dict]:
    """What the child prints, by file; files that end it are taken again without those before them."""
    found = {}
    todo = [str(file) for file in files]
    while todo:
        command = [sys.executable, compare_child.__file__, *todo]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
        if ran.returncode > 0:
            pytest.fail(ran.stderr[-3000:])
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        names, results = [line["file"] for line in lines[::2]], lines[1::2]
        found |= dict(zip(names, results, strict=False))
        todo = todo[len(names) :]
    return found


def check(files: list[Path]) -> None:
    found = compared(files)
    assert {name: each for name, each in found.items() if not each["same"]} == {}
    assert {
        name: each
        for name, each in found.items()
        if each["ahead"].get("error") != each["without"].get("error")
    } == {}
    assert len(found) >= 0.9 * len(files)  # HDF5 crashes on some damaged ones


@pytest.mark.parametrize("part", range(6))
@pytest.mark.parametrize("folder", ["nwb", "hdf5", "mat73", "netcdf4", "bad"])
def test_real_files(shared: Path, folder: str, part: int) -> None:
    files = sorted(p for p in (shared / "corpus" / folder).rglob("*") if p.suffix in SUFFIXES)[part::6]
    if not files:
        pytest.skip("no more files")
    check(files)


def test_made_files(made_files: Path) -> None:
    check(sorted(p for p in made_files.rglob("*") if p.suffix in SUFFIXES and p.name != "deep.h5"))
