"""Task: old snapshots of a repository, let go by its policy."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.refresh import run
from shadowzarr.catalog.refresh.request import RefreshRequest

from .retrying import policy


@task(name="expire-snapshots", task_run_name="expire-{dandiset}", **policy())
def expire_snapshots(request: RefreshRequest, dandiset: str) -> tuple[int, int]:
    """Let old snapshots go; how many, and bytes of objects that were deleted."""
    return run.expire(request, dandiset)
