"""Tasks: the record of one asset, written last; or the record of its failure."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog import stages
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import ErrorSummary, IndexRecord, VerificationSummary

from .retrying import policy


@task(name="record", task_run_name="record-{work.asset.path}", **policy())
def record_outcome(workshop: stages.Workshop, work: AssetWork, results: stages.AssetResults) -> IndexRecord:
    """Record an asset that was indexed, verified and published."""
    return stages.record(workshop, work, results)


@task(name="record-failure", task_run_name="record-failure-{work.asset.path}", **policy())
def record_failure(
    workshop: stages.Workshop,
    work: AssetWork,
    results: stages.AssetResults,
    failure: ErrorSummary,
    verification: VerificationSummary | None = None,
) -> IndexRecord:
    """Record why an asset failed."""
    return stages.record_failure(workshop, work, results, failure, verification)
