"""The steps of a refresh: look at the archive, commit what changed, tag what was published, let old go.

`refresh_icechunk` runs all of it from a plain script. ``flows`` calls the same steps as tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from ...errors import ShadowzarrError
from ...icechunk.retention import Retention, expire_snapshots, expiring_snapshots
from ..request import DandisetRequest
from ..resolve import open_archive
from .commit import Committed, follow_archive, held_in
from .decide import decide
from .report import RefreshSummary, RepositoryReport, VersionTag
from .repositories import named_errors, open_existing, refresh_session
from .request import RefreshRequest
from .state import DandisetState, look_at, wanted_dandisets
from .versions import plan_tags, tag_after, tag_before


def refresh_icechunk(request: RefreshRequest) -> RefreshSummary:
    """Refresh repositories from a plain script, without an orchestrator.

    Raises
    ------
    ShadowzarrError
        When the run as a whole is impossible. A repository that fails is told in the summary.
    """
    with refresh_session(request):
        return RefreshSummary([refresh_one(request, each) for each in wanted_dandisets(request)])


def refresh_one(
    request: RefreshRequest, wanted: DandisetRequest, steps: RefreshSteps | None = None
) -> RepositoryReport:
    """Take one repository through all steps; what goes wrong is in the report."""
    do = steps or RefreshSteps()
    report = RepositoryReport(wanted.dandiset, request.repository(wanted.dandiset))
    try:
        state = do.look(request, wanted)
        note_state(report, state)
        report.tags = do.make_tags(request, wanted, state, is_before=True)
        note_commit(report, do.follow_archive(request, state))
        report.tags += do.make_tags(request, wanted, state, is_before=False)
        report.expired, report.deleted_bytes = do.expire(request, wanted.dandiset)
    except ShadowzarrError as error:
        report.error = " ".join(str(error).split())
    return report


def plan_one(request: RefreshRequest, wanted: DandisetRequest) -> RepositoryReport:
    """Say what refreshing one repository would do; nothing is written."""
    report = RepositoryReport(wanted.dandiset, request.repository(wanted.dandiset))
    try:
        state = look(request, wanted)
        note_state(report, state)
        repo = open_existing(request, wanted.dandiset)
        with named_errors(report.place):
            held = held_in(repo, request)
            report.change = decide(held, state.contents.wanted, force=request.force)
            report.change.missing += state.contents.missing
            report.assets = len(report.change.kept) + len(report.change.writes)
            tags = set() if repo is None else repo.list_tags()
            policy = _retention(request)
            if repo is not None and policy is not None:
                report.expired = len(expiring_snapshots(repo, policy))
        report.tags = plan_tags(request, wanted, state, held=held, tags=tags)
    except ShadowzarrError as error:
        report.error = " ".join(str(error).split())
    return report


def look(request: RefreshRequest, wanted: DandisetRequest) -> DandisetState:
    """List one dandiset; errors as in `look_at`."""
    with open_archive(request.archive) as archive:
        return look_at(archive, request, wanted)


def make_tags(
    request: RefreshRequest, wanted: DandisetRequest, state: DandisetState, *, is_before: bool = False
) -> list[VersionTag]:
    """Tag published versions that have no tag, before or after a commit; see `tag_before` and `tag_after`."""
    if not state.published:
        return []
    make = tag_before if is_before else tag_after
    with named_errors(request.repository(wanted.dandiset)):
        return make(request, wanted, state)


def expire(request: RefreshRequest, dandiset: str) -> tuple[int, int]:
    """Let old snapshots go; how many, and bytes of objects that were deleted.

    Raises
    ------
    OutputError
        When the repository cannot be changed.
    """
    repo, policy = open_existing(request, dandiset), _retention(request)
    if repo is None or policy is None:
        return 0, 0
    with named_errors(request.repository(dandiset)):
        gone = expire_snapshots(repo, policy)
    return len(gone.snapshots), gone.deleted_bytes


def _retention(request: RefreshRequest) -> Retention | None:
    if request.keep_days is None:
        return None
    return Retention(timedelta(days=request.keep_days), timedelta(days=request.grace_days))


def note_state(report: RepositoryReport, state: DandisetState) -> None:
    """Put into a report what the archive says."""
    report.version, report.embargoed = state.version.version, state.contents.embargoed


def note_commit(report: RepositoryReport, committed: Committed) -> None:
    """Put into a report what was committed."""
    report.change, report.snapshot, report.assets = committed.change, committed.snapshot, committed.assets


@dataclass(frozen=True)
class RefreshSteps:
    """The steps of one repository; whoever orchestrates puts the same functions as tasks in their place.

    Attributes
    ----------
    look : callable
        `look`.
    make_tags : callable
        `make_tags`.
    follow_archive : callable
        `shadowzarr.catalog.refresh.commit.follow_archive`.
    expire : callable
        `expire`.
    """

    look: Callable[[RefreshRequest, DandisetRequest], DandisetState] = look
    make_tags: Callable[..., list[VersionTag]] = make_tags
    follow_archive: Callable[[RefreshRequest, DandisetState], Committed] = follow_archive
    expire: Callable[[RefreshRequest, str], tuple[int, int]] = expire
