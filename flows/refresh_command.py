"""What ``python -m flows run`` does for a configuration of the flow refresh_icechunk."""

from __future__ import annotations

import sys

from shadowzarr._optional import require_installed
from shadowzarr.errors import UsageError

from .refresh_config import RefreshIcechunkConfig
from .stop_run import RunStop


def plan_refresh(config: RefreshIcechunkConfig) -> int:
    """Print what would be committed, tagged and let go; 1 when that cannot be told of a repository."""
    from rich.console import Console

    _prepare()
    from shadowzarr.catalog.refresh.report import RefreshSummary
    from shadowzarr.catalog.refresh.run import plan_one
    from shadowzarr.catalog.refresh.state import wanted_dandisets

    from .refresh_text import print_refresh_plan

    request, console = config.request, Console()
    for warning in config.warnings:
        console.print(f"warning: {warning}", soft_wrap=True, markup=False)
    reports = [plan_one(request, each) for each in wanted_dandisets(request)]
    print_refresh_plan(console, reports)
    return 1 if RefreshSummary(reports).failures else 0


def run_refresh(config: RefreshIcechunkConfig) -> int:
    """Refresh repositories under Prefect; the exit code is that of the summary."""
    from rich.console import Console

    _prepare()
    from shadowzarr.catalog.refresh.report import RefreshSummary
    from shadowzarr.catalog.refresh.repositories import refresh_session
    from shadowzarr.catalog.refresh.state import wanted_dandisets

    from .refresh_text import print_refresh
    from .under_prefect import api_errors, under_prefect

    stop = RunStop(
        how_far=lambda: "each repository is as it was or as it should be; run again to go on",
        let_go=config.request.public.store.let_go,
    )
    for warning in config.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    wanted_dandisets(config.request)
    with refresh_session(config.request):
        pass  # what holds the output is told before Prefect takes its time to start
    with stop.listening(), under_prefect(lambda reason: stop.stop(reason, exit_code=1)):
        from .refresh_icechunk import refresh_icechunk

        stop.listen()
        with api_errors():
            summary = refresh_icechunk(config)
    if not isinstance(summary, RefreshSummary):
        raise UsageError(f"the flow ended without a summary: {summary}")
    print_refresh(Console(), summary)
    return summary.exit_code


def _prepare() -> None:
    """See that the library is there, and keep what it says of every local repository from the terminal."""
    require_installed("icechunk", extra="icechunk")
    import icechunk

    icechunk.set_logs_filter("error")
