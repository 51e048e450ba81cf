"""Runs made up for the report's tests."""

import datetime
from typing import Any

import numpy as np
import pytest

from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.records import (
    ErrorSummary,
    IndexRecord,
    RecordCounts,
    SkippedObject,
    StageTime,
    VerificationSummary,
)
from shadowzarr.catalog.run_summary import RunSummary, SkippedAsset

START = datetime.datetime(2026, 3, 2, 1, 0, 0, tzinfo=datetime.UTC)


def stamp(seconds: float) -> str:
    """A time of a run as records write it."""
    time = START + datetime.timedelta(seconds=seconds)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def make_record(path: str = "sub-01/sub-01_ecephys.nwb", **changes: Any) -> IndexRecord:
    """One asset that went well, but for the changes."""
    values: dict[str, Any] = {
        "asset_id": "6e7e9b91-0d66-45af-b646-dfb11e4d9967",
        "dandiset": "000001",
        "version": "draft",
        "path": path,
        "etag": "b885aa8ec05afd3337ae440e35249431-15",
        "size": 2_500_000_000,
        "url": "http://127.0.0.1:1/api/assets/6e7e9b91-0d66-45af-b646-dfb11e4d9967/download/",
        "options": ReferenceOptions().as_json(),
        "options_digest": ReferenceOptions().digest,
        "format_version": 1,
        "outcome": "indexed",
        "references": f"dandisets/000001/draft/{path}.shadowzarr",
        "references_bytes": 412_000,
        "references_files": 3,
        "counts": RecordCounts(groups=20, arrays=61, chunks=16_384),
        "verification": VerificationSummary("sample", equal=True, objects=214, bytes=31_000_000),
        "statistics": {"requests": 41.0, "bytes_read": 1_900_000.0},
        "stages": [
            StageTime("index", stamp(1), 2.4, 0),
            StageTime("verify", stamp(3.5), 1.1, 0),
            StageTime("publish", stamp(4.7), 0.02),
        ],
    }
    return IndexRecord(**{**values, **changes})


def make_failure(path: str = "sub-01/broken.nwb", **changes: Any) -> IndexRecord:
    """One asset that failed."""
    error = ErrorSummary("index", "DamagedSourceError", "the file ends at 4,096 of 9,000 bytes")
    values: dict[str, Any] = {
        "outcome": "failed",
        "references": None,
        "references_bytes": 0,
        "verification": None,
        "error": error,
        "stages": [StageTime("index", stamp(2), 0.3, 1)],
    }
    return make_record(path, **{**values, **changes})


def make_skipped(path: str, reason: str, **changes: Any) -> SkippedAsset:
    """One asset that the plan passed over."""
    values = {"dandiset": "000001", "version": "draft", "asset_id": "x", "size": 10, "detail": ""}
    return SkippedAsset(path=path, reason=reason, **{**values, **changes})


def make_summary(records: Any = (), **changes: Any) -> RunSummary:
    """A run of some records."""
    values: dict[str, Any] = {
        "flow": "index_dandisets",
        "config_digest": "0123456789ab",
        "config_path": "configs/demo.yaml",
        "archive": "http://127.0.0.1:1/api",
        "output": "demo/output",
        "dandisets": [("000001", "draft"), ("000002", "0.260302.0100")],
        "started": stamp(0),
        "finished": stamp(75),
        "seconds": 75.0,
        "versions": {"python": "3.13.5", "shadowzarr": "0.1.0", "h5py": "3.16.0"},
        "skipped": [],
    }
    return RunSummary(records=list(records), **{**values, **changes})


def make_busy_summary(assets: int = 1_000, workers: int = 4) -> RunSummary:
    """A run with something of everything, drawn by a fixed seed."""
    random = np.random.default_rng(0)
    clocks = [0.5] * workers
    records = []
    for number in range(assets):
        worker = int(np.argmin(clocks))
        size = int(10 ** random.uniform(5, 11))
        seconds = float(0.05 + size**0.4 * 1e-3 * random.lognormal(0, 0.4))
        path = (
            f"sub-{number % 40:02d}/ses-{number:04d}/sub-{number % 40:02d}_ses-{number:04d}_ecephys+image.nwb"
        )
        stages = [
            StageTime("index", stamp(clocks[worker]), seconds, worker),
            StageTime("verify", stamp(clocks[worker] + seconds), seconds / 2, worker),
            StageTime("publish", stamp(clocks[worker] + 1.5 * seconds), 0.01),
        ]
        clocks[worker] += 1.55 * seconds
        common: dict[str, Any] = {"dandiset": f"00000{1 + number % 3}", "size": size, "stages": stages}
        if number % 33 == 5:
            kinds = ("DamagedSourceError", "ChildCrashedError", "TransientReadError", "NotHDF5Error")
            error = ErrorSummary(
                "index", kinds[number % 4], f"bytes {number} to 9,000 are missing", number % 4 == 2
            )
            records.append(make_failure(path, **{**common, "stages": stages[:1]}, error=error))
            continue
        left_out = [
            SkippedObject(
                "/acquisition/tables/odd", "dataset", "variable-length sequences of compound values"
            )
        ]
        records.append(
            make_record(
                path,
                **common,
                outcome="partial" if number % 50 == 7 else "indexed",
                skipped=left_out if number % 50 == 7 else [],
                references_bytes=int(20_000 + size**0.55 * random.lognormal(0, 0.5)),
                counts=RecordCounts(30, int(random.integers(20, 150)), int(random.integers(20, 200_000))),
            )
        )
    skipped = [make_skipped(f"sub-01/video-{i}.mp4", "not NWB") for i in range(30)]
    skipped += [make_skipped(f"sub-02/old-{i}.nwb", "unchanged") for i in range(200)]
    seconds = max(clocks)
    return make_summary(records, skipped=skipped, seconds=seconds, finished=stamp(seconds))


@pytest.fixture(scope="session")
def busy_summary() -> RunSummary:
    return make_busy_summary()
