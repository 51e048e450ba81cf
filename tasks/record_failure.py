"""Task: the record of an asset that failed."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog import stages
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import ErrorSummary, IndexRecord, VerificationSummary

from .retrying import policy


@task(name="record-failure", task_run_name="record-failure-{work.label}", **policy())
def record_failure(
    workshop: stages.Workshop,
    work: AssetWork,
    results: stages.AssetResults,
    failure: ErrorSummary,
    verification: VerificationSummary | None = None,
) -> IndexRecord:
    """Record why an asset failed."""
    return stages.record_failure(workshop, work, results, failure, verification)
