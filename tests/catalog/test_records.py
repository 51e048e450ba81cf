import json
from pathlib import Path

import pytest

from shadowzarr.catalog.records import (
    ErrorSummary,
    IndexRecord,
    RecordCounts,
    SkippedObject,
    StageTime,
    VerificationSummary,
    read_record,
    write_record,
)
from shadowzarr.errors import InvalidReferencesError, OutputError

RECORD = IndexRecord(
    asset_id="i",
    dandiset="000001",
    version="draft",
    path="a.nwb",
    etag="e-1",
    size=7,
    url="https://x/download/",
    options={"form": "json", "chunk_index_threshold": None},
    options_digest="0123456789ab",
    format_version=1,
    outcome="partial",
    counts=RecordCounts(groups=1, arrays=2, chunks=3),
    skipped=[SkippedObject("/x", "dataset", "why")],
    verification=VerificationSummary(mode="sample", equal=True, differences=[]),
    error=ErrorSummary("verify", "E", "m", transient=True),
    statistics={"requests": 3},
    stages=[StageTime("index", "2026-01-02T03:04:05.678Z", 1.5, 0), StageTime("publish", "t", 0.25)],
    libraries={"h5py": "3"},
)


def test_a_record_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "deep" / "record.json"
    write_record(RECORD, path, scratch=tmp_path / "scratch")
    assert read_record(path) == RECORD
    assert json.loads(path.read_text())["error"]["message"] == "m"
    assert list((tmp_path / "scratch").iterdir()) == []


def test_time_of_all_stages():
    assert RECORD.seconds == 1.75


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"asset_id": "x"}', "null"])
def test_other_files_are_no_records(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(InvalidReferencesError, match=r"x\.json is not a record"):
        read_record(path)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        write_record(RECORD, tmp_path / "file" / "record.json", scratch=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_disk_that_gets_full_keeps_no_half(tmp_path, monkeypatch):
    def full(path, content):
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write_record(RECORD, tmp_path / "record.json", scratch=tmp_path / "scratch")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
