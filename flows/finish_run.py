"""The end of a run: outputs left as they should be, the summary put together, the report written."""

from __future__ import annotations

from shadowzarr.catalog.index_run import RunLog, finish_outputs, summarise_run
from shadowzarr.catalog.run_summary import RunSummary

from .config import IndexDandisetsConfig
from .report import write_report


def finish_run(config: IndexDandisetsConfig, log: RunLog) -> RunSummary:
    """Write what a run leaves beside the references, and return its summary.

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
        warnings=[*config.warnings, *warnings],
    )
    for layout in request.layouts:
        write_report(summary, layout, include_private=layout == request.private)
    return summary
