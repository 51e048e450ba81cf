"""The end of a run: outputs left as they should be, the summary put together, the report written."""

from __future__ import annotations

from shadowzarr.catalog.index_run import RunLog, finish_outputs, summarise_run
from shadowzarr.catalog.run_summary import RunSummary

from .after_run import AfterRun
from .convert_config import ConvertRecordingsConfig
from .index_config import IndexDandisetsConfig
from .output_section import OutputSection
from .report import write_report
from .site_after import update_site


def finish_run(
    config: IndexDandisetsConfig | ConvertRecordingsConfig, log: RunLog, after: AfterRun | None = None
) -> RunSummary:
    """Write what a run leaves beside the references, and return its summary.

    Parameters
    ----------
    config : IndexDandisetsConfig or ConvertRecordingsConfig
    log : RunLog
    after : AfterRun, optional
        What was done after the assets.

    Raises
    ------
    OutputError
        When something cannot be written.
    """
    request, after = config.request, after or AfterRun()
    warnings = finish_outputs(request, log)
    if isinstance(config.output, OutputSection) and config.output.site:
        warnings += update_site(request.public)
    summary = summarise_run(
        request,
        log,
        flow=config.flow,
        config_path=config.source,
        config_digest=config.digest,
        warnings=[*config.warnings, *warnings, *after.warnings],
    )
    summary = after.counted_in(summary)
    for layout in request.layouts:
        write_report(summary, layout, include_private=layout == request.private)
    return summary
