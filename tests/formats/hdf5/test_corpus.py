"""Every real HDF5 file: references that read as h5py does, or one clear error of ours.

Each folder is done in a child process, since a damaged file may crash HDF5.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = """
import json, sys, warnings
warnings.simplefilter("ignore")
from shadowzarr.errors import ShadowzarrError
from shadowzarr.formats.hdf5.generate import generate_rfs
for path in sys.argv[1:]:
    print(json.dumps({"start": path}), flush=True)
    try:
        rfs = generate_rfs(path)
        outcome = {"refs": len(rfs["refs"]), "skipped": rfs.get("skipped", [])}
    except ShadowzarrError as error:
        outcome = {"error": type(error).__name__, "message": str(error)}
    print(json.dumps(outcome), flush=True)
"""
CRASHES = {"h5repack_attr_refs.h5"}
"""Files that crash HDF5 itself when h5py reads one of their attributes."""


def outcomes(files: list[Path]) -> dict[str, dict]:
    found = {}
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, files)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    for start, outcome in zip(lines[::2], lines[1::2], strict=False):
        found[Path(start["start"]).name] = outcome
    if ran.returncode > 0:
        pytest.fail(ran.stderr[-3000:])
    return found


@pytest.mark.parametrize("folder", ["nwb", "hdf5", "mat73", "netcdf4"])
def test_real_files(shared: Path, folder: str) -> None:
    suffixes = {".h5", ".nwb", ".nc", ".nc4", ".mat", ".hdf5", ".hdf", ".he5"}
    files = sorted(p for p in (shared / "corpus" / folder).rglob("*") if p.suffix in suffixes)
    found = outcomes(files)
    assert len(found) == len({file.name for file in files})
    refused = {name: outcome for name, outcome in found.items() if "error" in outcome}
    assert set(refused) <= {
        name for name in refused if name.startswith("family_v16") or _unreadable(files, name)
    }
    assert sum("refs" in outcome for outcome in found.values()) >= 0.9 * len(found)
    if folder == "nwb":
        assert not refused
        assert not any(outcome["skipped"] for outcome in found.values())


@pytest.mark.parametrize("index", range(13))
def test_bad_files(shared: Path, index: int) -> None:
    files = sorted(p for p in (shared / "corpus" / "bad").iterdir() if p.suffix not in (".tif", ".tiff"))
    file = files[index]
    found = outcomes([file])
    if not found:
        assert file.name in CRASHES
        return
    outcome = found[file.name]
    if "error" in outcome:
        assert outcome["error"] in ("NotHDF5Error", "DamagedSourceError")
        assert file.name in outcome["message"]
    else:
        assert all(entry["reason"] for entry in outcome["skipped"])


def _unreadable(files: list[Path], name: str) -> bool:
    import h5py

    try:
        h5py.File(next(file for file in files if file.name == name), "r").close()
    except OSError:
        return True
    return False
