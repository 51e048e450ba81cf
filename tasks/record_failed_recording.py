"""Task: the record of a recording that failed."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import ErrorSummary, IndexRecord, VerificationSummary
from shadowzarr.conversion import stages

from .retrying import policy


@task(name="record-failed-recording", task_run_name="record-failure-{work.asset.path}", **policy())
def record_failed_recording(
    bench: stages.ConversionBench,
    work: AssetWork,
    results: stages.ConversionResults,
    failure: ErrorSummary,
    verification: VerificationSummary | None = None,
) -> IndexRecord:
    """Record why a recording failed."""
    return stages.record_failure(bench, work, results, failure, verification)
