"""Task: a repository made to hold what the archive has, in one commit."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.refresh import commit
from shadowzarr.catalog.refresh.request import RefreshRequest
from shadowzarr.catalog.refresh.state import DandisetState

from .retrying import policy


@task(name="follow-archive", **policy())
def follow_archive(request: RefreshRequest, state: DandisetState) -> commit.Committed:
    """Commit what changed."""
    return commit.follow_archive(request, state)
