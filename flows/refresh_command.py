"""What ``python -m flows run`` does for a configuration of the flow refresh_icechunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shadowzarr._optional import require_installed

from .refresh_config import RefreshIcechunkConfig
from .run_flow import FlowCommand, run_flow
from .warning_lines import warn

if TYPE_CHECKING:
    from .json_lines import JsonLines


def plan_refresh(config: RefreshIcechunkConfig, lines: JsonLines | None = None) -> int:
    """Print what would be committed, tagged and let go; 1 when that cannot be told of a repository."""
    from rich.console import Console

    _prepare()
    from shadowzarr.catalog.refresh.report import RefreshSummary
    from shadowzarr.catalog.refresh.run import plan_one
    from shadowzarr.catalog.refresh.state import wanted_dandisets

    from .refresh_text import print_refresh_plan, refresh_things, report_event

    request = config.request
    reports = [plan_one(request, each) for each in wanted_dandisets(request)]
    if lines is not None:
        told = [report_event(report) for report in reports]
        lines.plan_of(refresh_things(len(reports)), warnings=config.warnings, repositories=told)
        return 1 if RefreshSummary(reports).failures else 0
    console = Console()
    warn(*config.warnings)
    print_refresh_plan(console, reports)
    return 1 if RefreshSummary(reports).failures else 0


def run_refresh(config: RefreshIcechunkConfig, lines: JsonLines | None = None) -> int:
    """Refresh repositories under Prefect; the exit code is that of the summary."""
    from rich.console import Console

    _prepare()
    from shadowzarr.catalog.refresh.report import RefreshSummary
    from shadowzarr.catalog.refresh.repositories import refresh_session
    from shadowzarr.catalog.refresh.state import wanted_dandisets

    from .refresh_text import print_refresh, refresh_end

    request = config.request

    def look() -> None:
        wanted_dandisets(request)
        with refresh_session(request):
            pass  # what holds the output is told before Prefect takes its time to start

    command = FlowCommand(
        look=look,
        load=_load,
        summary=RefreshSummary,
        end=lambda summary: refresh_end(summary, request),
        stays="each repository is as it was or as it should be; run again to go on",
        let_go=request.public.store.let_go,
    )
    summary = run_flow(config, command, lines)
    if lines is None:
        print_refresh(Console(), summary)
    return summary.exit_code


def _load() -> Callable[[Any], object]:
    from .refresh_icechunk import refresh_icechunk

    return refresh_icechunk


def _prepare() -> None:
    """See that the library is there, and keep what it says of every local repository from the terminal."""
    require_installed("icechunk", extra="icechunk")
    import icechunk

    icechunk.set_logs_filter("error")
