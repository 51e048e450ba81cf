"""Task: verified references of one asset, given their final name."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog import stages
from shadowzarr.catalog.plan import AssetWork

from .retrying import policy


@task(name="publish", task_run_name="publish-{work.asset.path}", **policy())
def publish_references(workshop: stages.Workshop, work: AssetWork) -> stages.Done[stages.Published]:
    """Rename one asset's references to their place."""
    return stages.publish(workshop, work)
