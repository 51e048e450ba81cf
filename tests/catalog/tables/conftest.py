"""An output of small NWB-like files with everything that the catalogue tells, made without an archive."""

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, write_rfs
from shadowzarr.catalog.layout import OutputLayout, RecordKey
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.records import (
    ErrorSummary,
    IndexRecord,
    RecordCounts,
    SkippedObject,
    StageTime,
    VerificationSummary,
    write_record,
)

IDS = {number: f"{number:08d}-037a-4dcb-9d8f-1073895048e1" for number in range(1, 10)}


def etag_of(number: int) -> str:
    return f"{number:032x}-1"


def typed(node, neurodata_type: str, namespace: str = "core"):
    node.attrs["neurodata_type"] = neurodata_type
    node.attrs["namespace"] = namespace
    return node


def write_nwb(path: Path, *, channels: int = 4, level: int = 4, species: str = "Mus musculus") -> Path:
    """A recording, a pose estimation, a subject, and a series with timestamps alone."""
    with h5py.File(path, "w") as file:
        typed(file, "NWBFile").attrs["nwb_version"] = "2.9.0"
        file["identifier"] = "one"
        file["session_start_time"] = "2026-03-02T09:30:00+00:00"
        file["general/experimenter"] = ["Example, Ada", "Muster, Erik"]
        subject = typed(file.create_group("general/subject"), "Subject")
        subject["species"], subject["subject_id"] = species, np.bytes_(b"01")
        series = typed(file.create_group("acquisition/wide"), "ElectricalSeries")
        series.attrs["description"] = "broadband"
        data = np.arange(600 * channels, dtype="i2").reshape(600, channels)
        series.create_dataset(
            "data",
            data=data,
            chunks=(200, channels),
            compression="gzip",
            compression_opts=level,
            shuffle=True,
        ).attrs.update({"unit": "volts", "conversion": 2e-7, "resolution": np.nan})
        series["starting_time"] = 0.0
        series["starting_time"].attrs["rate"] = 30_000.0
        pose = typed(file.create_group("processing/pose/nose"), "PoseEstimationSeries", "ndx-pose")
        typed(file["processing/pose"], "PoseEstimation", "ndx-pose")
        pose["data"] = np.zeros((300, 2))
        pose["timestamps"] = np.arange(300.0)
    return path


@pytest.fixture
def layout(tmp_path) -> OutputLayout:
    return OutputLayout(tmp_path / "out", ReferenceOptions(chunk_index_threshold=2))


@pytest.fixture
def put(layout, tmp_path):
    """Puts references and a record into an output; a record with an error has no references."""

    def put(number: int, *, file: Path | None = None, into: OutputLayout = layout, **changes) -> IndexRecord:
        name = changes.get("path", f"sub-{number}/{number}.nwb")
        record = IndexRecord(
            **{
                "asset_id": IDS[number],
                "dandiset": "000001",
                "version": "draft",
                "path": name,
                "etag": etag_of(number),
                "size": 1000 + number,
                "url": f"https://archive.test/assets/{IDS[number]}/download/",
                "options": {},
                "options_digest": "0123456789ab",
                "format_version": 1,
                "outcome": "indexed",
                "counts": RecordCounts(groups=3, arrays=4, chunks=9, array_bytes=100),
                "verification": VerificationSummary("sample", equal=True, objects=9),
                "statistics": {"requests": 5, "bytes_read": 700.0},
                "stages": [
                    StageTime("index", "2026-03-02T09:30:00.000Z", 1.5),
                    StageTime("verify", "", 0.25),
                ],
                "libraries": {"shadowzarr": "0.1.0"},
            }
            | changes
        )
        folder = into.version_folder(record.dandiset, record.version)
        if record.outcome != "failed":
            source = file or write_nwb(tmp_path / f"{number}.nwb")
            references = folder / f"{name}.shadowzarr"
            write_rfs(generate_rfs(source, chunk_index_threshold=2), references)
            record = replace(record, references=into.relative(references))
        key = RecordKey(record.asset_id, record.etag, record.options_digest, 1)
        file_name = f"{name}.{key.asset_id}.{key.etag}.{key.options_digest}.f1.{record.outcome}.record.json"
        write_record(record, folder / file_name, scratch=into.staging)
        return record

    return put


@pytest.fixture
def failed() -> dict[str, object]:
    """What a record of a failure has in place of references."""
    return {
        "outcome": "failed",
        "verification": None,
        "stages": [],
        "error": ErrorSummary("index", "DamagedSourceError", "truncated after 3000 bytes"),
    }


@pytest.fixture
def partial() -> dict[str, object]:
    return {"outcome": "partial", "skipped": [SkippedObject("odd/link", "link", "it leads nowhere")]}


@pytest.fixture(scope="session")
def write_nwb_file():
    """Writes an NWB-like file at a path."""
    return write_nwb
