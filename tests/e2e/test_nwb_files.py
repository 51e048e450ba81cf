"""Every NWB file at hand: generated, written in both forms, verified in full, and read as NWB."""

import sys
import warnings
from pathlib import Path

import pytest
from hdmf_zarr import NWBZarrIO
from pynwb import NWBHDF5IO

from shadowzarr import RfsStore, generate_rfs, load_rfs, verify_rfs, write_rfs

sys.path.append(str(Path(__file__).parent))
from containers import differences

pytestmark = pytest.mark.filterwarnings("ignore")  # old files make pynwb and hdmf warn


def nwb_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nwb"))


def opens(path: Path) -> bool:
    try:
        with NWBHDF5IO(path, "r") as io:
            io.read()
    except Exception:  # whatever pynwb refuses, for whatever reason, we need not read
        return False
    return True


def check(path: Path, folder: Path) -> dict[str, int]:
    """All of it for one file; the counts of what was compared and left out."""
    rfs = generate_rfs(path)
    counts = {"files": 1, "objects": 0, "left out": 0, "read as NWB": 0}
    for name in (f"{path.stem}.shadowzarr", f"{path.stem}.shadowzarr.json"):
        write_rfs(rfs, folder / name)
        report = verify_rfs(folder / name, mode="full")
        assert report.equal, f"{path}: {report.differences[:5]}"
        counts["left out"] = len(report.left_out)
        counts["objects"] = report.counts["groups"] + report.counts["arrays"]
        if opens(path) and not report.left_out:
            counts["read as NWB"] = 1
            compare_containers(path, folder / name)
    return counts


def compare_containers(path: Path, references: Path) -> None:
    with (
        warnings.catch_warnings(action="ignore"),
        NWBHDF5IO(path, "r") as original,
        NWBZarrIO(RfsStore(load_rfs(references)), mode="r") as ours,
    ):
        has_ids = "object_id" in original._file.attrs
        found = list(differences(original.read(), ours.read(), has_ids=has_ids))
    assert found == [], f"{path}: {found[:10]}"


def total(counts: list[dict[str, int]]) -> str:
    return ", ".join(f"{sum(c[key] for c in counts)} {key}" for key in counts[0])


def test_real_files(shared, tmp_path, capsys):
    counts = [check(path, tmp_path) for path in nwb_files(shared / "corpus" / "nwb")]
    with capsys.disabled():
        print(f"\ncorpus/nwb: {total(counts)}")
    assert sum(c["files"] for c in counts) >= 15
    assert sum(c["read as NWB"] for c in counts) >= 15
    assert sum(c["left out"] for c in counts) == 0


def test_made_files(made_files, tmp_path, capsys):
    counts = [check(path, tmp_path) for path in nwb_files(made_files / "nwb")]
    with capsys.disabled():
        print(f"\nmade NWB files: {total(counts)}")
    assert sum(c["files"] for c in counts) >= 2


def test_sample_files(tmp_path, capsys):
    from shadowzarr.testing.sample_nwb import write_sample_dandisets

    counts = [check(path, tmp_path) for path in write_sample_dandisets(tmp_path / "archive")]
    with capsys.disabled():
        print(f"\nsample files: {total(counts)}")
    assert sum(c["read as NWB"] for c in counts) == 5
