"""Flow: Icechunk repositories, one per dandiset, that follow the archive.

A table of contents: look at a dandiset, tag, commit, tag, let old snapshots go; each step a task.
"""

from __future__ import annotations

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from shadowzarr.catalog.refresh.commit import Committed
from shadowzarr.catalog.refresh.report import RefreshSummary, VersionTag
from shadowzarr.catalog.refresh.repositories import refresh_session
from shadowzarr.catalog.refresh.request import RefreshRequest
from shadowzarr.catalog.refresh.run import RefreshSteps, refresh_one
from shadowzarr.catalog.refresh.state import DandisetState, wanted_dandisets
from shadowzarr.catalog.request import DandisetRequest
from tasks.expire_snapshots import expire_snapshots
from tasks.follow_archive import follow_archive
from tasks.look_at_dandiset import look_at_dandiset
from tasks.retrying import policy
from tasks.tag_versions import tag_versions

from .crash_hook import tell_crashed
from .given_config import given_config
from .refresh_config import RefreshIcechunkConfig
from .refresh_text import failure_rows, markdown_refresh, refresh_end, refresh_things
from .task_runner import opaque
from .watched_flow import WatchedFlow, watched_flow


@flow(name="refresh-icechunk", persist_result=False, on_crashed=[tell_crashed])
def refresh_icechunk(config: RefreshIcechunkConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Refresh repositories; the result of the completed state is a `RefreshSummary`.

    Parameters
    ----------
    config : RefreshIcechunkConfig or str
        What to do: a configuration, or its file (`flows.given_config`).
    changes : list of str
        Changes of the file's, as ``--set``.

    Raises
    ------
    ShadowzarrError
        When the run as a whole is impossible. A repository that fails is told in the summary.
    """
    config = given_config(config, changes, RefreshIcechunkConfig)
    with watched_flow(config) as watched:
        summary = _refresh_all(config, watched)
        return watched.ended(
            summary,
            refresh_end(summary, config.request),
            markdown=markdown_refresh(summary),
            failures=failure_rows(summary),
        )


def _refresh_all(config: RefreshIcechunkConfig, watched: WatchedFlow) -> RefreshSummary:
    """Take each repository through its steps."""
    request, summary = config.request, RefreshSummary()
    steps = task_steps(config.run.retries)
    with refresh_session(request):
        all_wanted = wanted_dandisets(request)
        with watched.following(refresh_things(len(all_wanted))) as told:
            for wanted in all_wanted:
                summary.repositories.append(refresh_one(request, wanted, steps))
                told(summary.repositories[-1])
    return summary


def task_steps(retries: int) -> RefreshSteps:
    """The steps of a repository as tasks, whose arguments Prefect does not look into."""
    options = policy(retries)

    def look(request: RefreshRequest, wanted: DandisetRequest) -> DandisetState:
        return look_at_dandiset.with_options(**options)(request, wanted)

    def tag(
        request: RefreshRequest, wanted: DandisetRequest, state: DandisetState, *, is_before: bool
    ) -> list[VersionTag]:
        return tag_versions.with_options(**options)(request, wanted, opaque(state), is_before=is_before)

    def follow(request: RefreshRequest, state: DandisetState) -> Committed:
        return follow_archive.with_options(**options)(request, opaque(state))

    return RefreshSteps(look, tag, follow, expire_snapshots.with_options(**options))
