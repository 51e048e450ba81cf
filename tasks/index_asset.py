"""Task: the references of one asset, generated (or pointed anew) and written to staging."""

from __future__ import annotations

from pathlib import Path

from prefect import task

from shadowzarr.catalog import stages
from shadowzarr.catalog.jobs import IndexResult
from shadowzarr.catalog.plan import AssetWork

from .retrying import policy


@task(name="index", task_run_name="index-{work.label}", **policy())
def index_asset(
    workshop: stages.Workshop, work: AssetWork, twin: Path | None = None
) -> stages.Done[IndexResult]:
    """Index one asset in a child process."""
    with workshop.resting.trying(work):
        return stages.index(workshop, work, twin)
