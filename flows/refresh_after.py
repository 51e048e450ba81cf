"""The section ``icechunk:`` of flows that index: repositories refreshed at the end of a run.

The steps are those of the flow refresh_icechunk, without task runs of their own; the run holds the output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shadowzarr._optional import require_installed
from shadowzarr.catalog.index_run import RunLog
from shadowzarr.catalog.request import DandisetRequest
from shadowzarr.formatting import format_count

from .icechunk_section import refresh_request
from .index_config import IndexDandisetsConfig

if TYPE_CHECKING:
    from shadowzarr.catalog.refresh.report import RepositoryReport


def check_extra(config: IndexDandisetsConfig) -> None:
    """Refuse a configuration that wants repositories when the library for them is missing.

    Raises
    ------
    MissingDependencyError
        When Icechunk is not installed.
    """
    if config.icechunk is not None and config.icechunk.enabled:
        require_installed("icechunk", extra="icechunk")


def refresh_repositories(config: IndexDandisetsConfig, log: RunLog) -> list[RepositoryReport]:
    """Refresh the repositories of the dandisets that were indexed, and say so a line for each.

    A dandiset of several versions is followed in the first that the configuration names. A run that ends at
    its first failure refreshes nothing.
    """
    section = config.icechunk
    if section is None or not section.enabled or (config.on_error == "stop" and log.has_failed):
        return []
    check_extra(config)
    import icechunk

    from shadowzarr.catalog.refresh.repositories import place_session
    from shadowzarr.catalog.refresh.run import refresh_one

    from .refresh_text import report_line

    icechunk.set_logs_filter("error")  # it warns of every local repository
    wanted: dict[str, DandisetRequest] = {}
    for each in config.request.dandisets:
        wanted.setdefault(each.dandiset, each)
    request = refresh_request(
        section,
        archive=config.request.archive,
        output=config.request.output,
        dandisets=tuple(wanted.values()),
        force=config.redo.force,
    )
    reports = []
    with place_session(request):
        for each in wanted.values():
            reports.append(refresh_one(request, each))
            print(f"Icechunk: {report_line(reports[-1])}", file=sys.stderr, flush=True)
    return reports


def repository_warnings(reports: Sequence[RepositoryReport]) -> Iterator[str]:
    """What went wrong or is missing, a line for each repository; all is told by refresh_icechunk --plan."""
    for report in reports:
        where = f"the Icechunk repository of dandiset {report.dandiset}"
        if report.error:
            yield f"{where} could not be refreshed: {report.error}"
        if report.missing:
            first = report.missing[0]
            count = format_count(len(report.missing), "asset")
            yield f"{where} lacks {count}, the first {first.path}: {first.reason}"
        for tag in report.tags:
            if tag.reason:
                yield f"{where} has no tag {tag.version}: {tag.reason}"
