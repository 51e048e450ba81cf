"""Errors that stay with the file are told from others, and their assets are passed over for a while."""

import inspect
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from records_by_hand import record_of

from shadowzarr import errors
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.libraries import library_versions
from shadowzarr.catalog.records import ErrorSummary, IndexRecord, StageTime, write_record
from shadowzarr.catalog.redo import RedoRules, is_permanent, quarantine_by_record, quarantine_of

NOW = datetime(2026, 3, 20, tzinfo=UTC)
OF_THE_FILE = {
    *("SourceError", "UnknownFormatError", "NotHDF5Error", "NotTIFFError", "DamagedSourceError"),
    *("ChildFailedError", "ChildCrashedError", "ChildTimedOutError", "ChildOutOfMemoryError"),
    *("UnsupportedError", "UnsupportedNodesError"),
    *("InvalidReferencesError", "ReferencesDifferError", "ForeignJobError", "InvalidNWBError"),
}
"""Everything else is about servers, keys, the machine, or a file that was replaced meanwhile."""


def make(kind):
    if kind is errors.ReferencesDifferError:
        return kind(type("Found", (), {"differences": [], "difference_count": 0})())
    return kind("a message")


def test_every_error_class_is_decided_about():
    kinds = {
        name: kind
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.ShadowzarrError)
    }
    assert {name for name, kind in kinds.items() if is_permanent(make(kind))} == OF_THE_FILE
    assert set(kinds) >= OF_THE_FILE


def test_a_transient_error_is_never_permanent():
    error = errors.ForeignJobError("TimeoutError: the server")
    error.transient = True
    assert not is_permanent(error)


def test_foreign_errors_are_faults_of_the_library_but_for_the_machines():
    assert is_permanent(ValueError("x"))
    assert not is_permanent(OSError("no space left"))
    assert not is_permanent(MemoryError())


@pytest.fixture
def record(asset) -> IndexRecord:
    return record_of(
        asset,
        outcome="failed",
        error=ErrorSummary("index", "NotHDF5Error", "it is text", permanent=True),
        stages=[StageTime("record", "2026-03-02T09:30:00.000Z", 0.0)],
        libraries=library_versions(),
    )


def test_a_quarantine_has_a_reason_and_an_end(record):
    found = quarantine_of(record, days=30, now=NOW)
    assert found.until == datetime(2026, 4, 1, 9, 30, tzinfo=UTC)
    assert found.text == "failed on 2026-03-02 and is tried again after 2026-04-01: index: it is text"
    assert quarantine_of(record, days=17, now=NOW) is None


def test_what_may_go_well_next_time_is_in_no_quarantine(record):
    passing = replace(record, error=ErrorSummary("index", "TransientReadError", "busy", transient=True))
    other = replace(record, libraries={**library_versions(), "shadowzarr": "0.0.1"})
    older = replace(record, stages=[])  # of a version that did not tell when
    for each in (passing, other, older, replace(record, error=None)):
        assert quarantine_of(each, days=30, now=NOW) is None


def test_a_record_is_read_when_it_decides(record, tmp_path):
    now = datetime.now(UTC).isoformat()
    fresh = replace(record, stages=[StageTime("record", now, 0.0)])
    write_record(fresh, tmp_path / "a.json", scratch=tmp_path)
    layout = layout_at(tmp_path)
    assert quarantine_by_record(RedoRules())(layout, tmp_path / "a.json").reason == "index: it is text"
    for rules in (RedoRules(force=True), RedoRules(only_failed=True), RedoRules(quarantine_days=0)):
        assert quarantine_by_record(rules)(layout, tmp_path / "a.json") is None
    (tmp_path / "a.json").write_text("{")
    for name in ("a.json", "none.json"):
        assert quarantine_by_record(RedoRules())(layout, tmp_path / name) is None


def test_what_is_too_old_by_its_time_of_modification():
    rules = RedoRules(since=NOW)
    assert rules.is_too_old("2026-03-19T23:59:59.999Z")
    assert rules.is_too_old("2026-03-19")
    assert not rules.is_too_old((NOW + timedelta(seconds=1)).isoformat())
    assert rules.is_too_old("2026-03-20T00:30:00+01:00")
    assert not rules.is_too_old("2026-03-19T23:30:00-01:00")
    assert not rules.is_too_old("")
    assert not rules.is_too_old("some day")
    assert not RedoRules().is_too_old("1970-01-01")
