"""What Prefect's page shows of a run: rows of failures, and progress in few steps."""

from dataclasses import replace

from shadowzarr.catalog.records import ErrorSummary, IndexRecord

BAD = IndexRecord(
    "i", "000001", "draft", "b.nwb", "e-1", 1, "u", {}, "0", 1, "failed",
    error=ErrorSummary("index", "E", "why", transient=True),
)  # fmt: skip


def test_rows_of_failures_name_no_embargoed_asset():
    from flows.artifacts import MOST_FAILURES, failure_rows

    rows = failure_rows([BAD, replace(BAD, private=True, path="secret.nwb")])
    assert rows[0] == {
        "dandiset": "000001",
        "asset": "b.nwb",
        "kind": "E",
        "cause": "index: why",
        "stays": "may pass",
    }
    assert rows[1]["asset"] == "(an embargoed asset)"
    assert len(failure_rows([BAD] * (MOST_FAILURES + 1))) == MOST_FAILURES


def test_progress_is_told_in_steps_however_many_assets_there_are(monkeypatch):
    from flows import artifacts

    told = []
    monkeypatch.setattr(artifacts, "create_progress_artifact", lambda *_, **__: "id")
    monkeypatch.setattr(artifacts, "update_progress_artifact", lambda _, share: told.append(share))
    progress = artifacts.ProgressArtifact("index_dandisets", 1000)
    for _ in range(1000):
        progress.asset_ended()
    assert told == [float(share) for share in range(5, 101, 5)]
    artifacts.ProgressArtifact("index_dandisets", 0).asset_ended()
    assert len(told) == 20
