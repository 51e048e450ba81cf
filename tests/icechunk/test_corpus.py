"""Real files through Icechunk and back, through version 1 documents to h5py, and NWB files as NWB.

A few of each folder by default; all of them with CORPUS=all in the environment. The counts are printed.
"""

import json
import os
import sys
import warnings
from pathlib import Path

import icechunk
import pytest
from one_by_one import outcomes

SUPPORT = Path(__file__).resolve().parents[1] / "support"
SUFFIXES = {".h5", ".hdf5", ".nwb", ".mat", ".nc"}
IS_ALL = os.environ.get("CORPUS") == "all"
FEW = 3

sys.path.append(str(Path(__file__).parents[1] / "e2e"))


def files(shared, folder):
    found = sorted(p for p in (shared / "corpus" / folder).rglob("*") if p.suffix in SUFFIXES and p.is_file())
    # Every so many, so that they are of several writers; large ones only when all are wanted.
    few = [path for path in found if path.stat().st_size < 500_000]
    return found if IS_ALL else few[:: max(1, len(few) // FEW)][:FEW]


@pytest.mark.parametrize("folder", ["hdf5", "nwb", "mat73", "netcdf4"])
def test_real_files(shared, folder, tmp_path, capsys):
    paths = files(shared, folder)
    found = outcomes(SUPPORT / "interchange_round_trip.py", paths, str(tmp_path))
    counts = {"files": len(found), "unreadable": 0, "ended the process": 0, "no version 1": 0}
    wrong = {}
    for path, outcome in found.items():
        if "unreadable" in outcome or "ended the process" in outcome:
            counts["unreadable" if "unreadable" in outcome else "ended the process"] += 1
            continue
        if "failed" in outcome:
            wrong[path.name] = outcome["failed"]
            continue
        for part in ("icechunk", "version 1"):
            if "refused" in outcome[part]:
                counts["no version 1"] += 1
                continue
            if outcome[part].pop("differences"):
                wrong[path.name] = outcome[part]
            for name, number in outcome[part].items():
                counts[name] = counts.get(name, 0) + number
    with capsys.disabled():
        print(f"\ncorpus/{folder}: {json.dumps(counts)}")
    assert wrong == {}
    assert counts["unreadable"] + counts["ended the process"] <= 0.1 * len(found)
    assert counts["arrays"] > 0
    assert counts["equal to h5py"] > 0


def test_nwb_files_open_as_nwb(shared, tmp_path, capsys):
    pytest.importorskip("hdmf_zarr")
    from containers import differences
    from pynwb import NWBHDF5IO

    from shadowzarr import generate_rfs
    from shadowzarr.icechunk import commit_changes, open_repository, rfs_to_icechunk
    from shadowzarr.nwb import read_nwb

    icechunk.set_logs_filter("error")
    paths = files(shared, "nwb")
    repo = open_repository(tmp_path / "repo", [path.as_uri() for path in paths])
    documents = {path.stem.replace(".", "-"): generate_rfs(path) for path in paths}

    def write(session):
        for name, rfs in documents.items():
            rfs_to_icechunk(rfs, session, group=name)

    commit_changes(repo, "all", write)
    store = repo.readonly_session("main").store
    compared = 0
    for path, name in zip(paths, documents, strict=True):
        with warnings.catch_warnings(action="ignore"), NWBHDF5IO(path, "r") as original:
            has_ids = "object_id" in original._file.attrs
            ours = read_nwb(store, group=name)
            assert list(differences(original.read(), ours, has_ids=has_ids)) == [], path
        compared += 1
    with capsys.disabled():
        print(f"\ncorpus/nwb through Icechunk, one commit: {compared} files equal as NWB")
    assert compared == len(paths)
