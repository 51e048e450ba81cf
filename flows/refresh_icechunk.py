"""Flow: Icechunk repositories, one per dandiset, that follow the archive.

A table of contents: look at a dandiset, tag, commit, tag, let old snapshots go; each step a task.
"""

from __future__ import annotations

import sys
from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed
from prefect.utilities.annotations import quote

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

from .crash_hook import notifying, tell_crashed
from .given_config import given_config
from .refresh_config import RefreshIcechunkConfig
from .refresh_text import markdown_refresh, report_line, report_lines


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
    with notifying(config) as notifier:
        summary = _refresh_all(config)
    create_markdown_artifact(markdown_refresh(summary), key="refresh-icechunk-summary")
    failed = len(summary.failures)
    name = "CompletedWithFailures" if failed else "Completed"
    message = f"{failed} of {len(summary.repositories)} repositories failed"
    lines = [report_line(report) for report in summary.failures]
    notifier.tell(f"{message}.", exit_code=summary.exit_code, failures=lines)
    return Completed(name=name, message=message, data=summary)


def _refresh_all(config: RefreshIcechunkConfig) -> RefreshSummary:
    """Take each repository through its steps."""
    request, summary = config.request, RefreshSummary()
    steps = task_steps(config.run.retries)
    with refresh_session(request):
        for wanted in wanted_dandisets(request):
            report = refresh_one(request, wanted, steps)
            summary.repositories.append(report)
            print("\n".join(report_lines(report)), file=sys.stderr, flush=True)
    return summary


def task_steps(retries: int) -> RefreshSteps:
    """The steps of a repository as tasks, whose arguments Prefect does not look into."""
    options = policy(retries)

    def look(request: RefreshRequest, wanted: DandisetRequest) -> DandisetState:
        return look_at_dandiset.with_options(**options)(request, wanted)

    def tag(
        request: RefreshRequest, wanted: DandisetRequest, state: DandisetState, *, is_before: bool
    ) -> list[VersionTag]:
        return tag_versions.with_options(**options)(request, wanted, _opaque(state), is_before=is_before)

    def follow(request: RefreshRequest, state: DandisetState) -> Committed:
        return follow_archive.with_options(**options)(request, _opaque(state))

    return RefreshSteps(look, tag, follow, expire_snapshots.with_options(**options))


def _opaque(value: Any) -> Any:
    """Hand a value to a task as it is; Prefect would look into every item of it for futures."""
    return quote(value)
