"""Task: what the archive lists of a dandiset, and what references of it there are."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.refresh import run
from shadowzarr.catalog.refresh.request import RefreshRequest
from shadowzarr.catalog.refresh.state import DandisetState
from shadowzarr.catalog.request import DandisetRequest

from .retrying import policy


@task(name="look-at-dandiset", task_run_name="look-at-{wanted.dandiset}", **policy())
def look_at_dandiset(request: RefreshRequest, wanted: DandisetRequest) -> DandisetState:
    """List a dandiset in the archive and in the output."""
    return run.look(request, wanted)
