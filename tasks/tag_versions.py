"""Task: published versions as tags of a repository."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.refresh import run
from shadowzarr.catalog.refresh.report import VersionTag
from shadowzarr.catalog.refresh.request import RefreshRequest
from shadowzarr.catalog.refresh.state import DandisetState
from shadowzarr.catalog.request import DandisetRequest

from .retrying import policy


@task(name="tag-versions", **policy())
def tag_versions(
    request: RefreshRequest, wanted: DandisetRequest, state: DandisetState, *, is_before: bool
) -> list[VersionTag]:
    """Tag the versions that have no tag, before a commit or after it."""
    return run.make_tags(request, wanted, state, is_before=is_before)
