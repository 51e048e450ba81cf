"""Task: the staged references of one asset, compared with the file."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog import stages
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import VerificationSummary

from .retrying import policy


@task(name="verify", task_run_name="verify-{work.label}", **policy())
def verify_asset(workshop: stages.Workshop, work: AssetWork) -> stages.Done[VerificationSummary]:
    """Verify one asset in a child process."""
    with workshop.resting.trying(work):
        return stages.verify(workshop, work)
