"""The end of a run: outputs left as they should be, the summary put together, the report written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shadowzarr.catalog.index_run import RunLog, finish_outputs, summarise_run
from shadowzarr.catalog.run_summary import RunSummary

from .config import IndexDandisetsConfig
from .refresh_after import repository_warnings
from .report import write_report

if TYPE_CHECKING:
    from shadowzarr.catalog.refresh.report import RepositoryReport


def finish_run(
    config: IndexDandisetsConfig, log: RunLog, repositories: Sequence[RepositoryReport] = ()
) -> RunSummary:
    """Write what a run leaves beside the references, and return its summary.

    Parameters
    ----------
    config : IndexDandisetsConfig
    log : RunLog
    repositories : sequence of RepositoryReport
        What became of Icechunk repositories.

    Raises
    ------
    OutputError
        When something cannot be written.
    """
    request = config.request
    warnings = finish_outputs(request, log)
    summary = summarise_run(
        request,
        log,
        flow=config.flow,
        config_path=config.source,
        config_digest=config.digest,
        warnings=[*config.warnings, *warnings, *repository_warnings(repositories)],
    )
    summary = replace(
        summary,
        repositories_failed=sum(bool(each.error) for each in repositories),
        repositories_partial=sum(each.is_left_out for each in repositories),
    )
    for layout in request.layouts:
        write_report(summary, layout, include_private=layout == request.private)
    return summary
