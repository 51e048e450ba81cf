"""What ``python -m flows run`` does for a configuration of the flow watch_deployments."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shadowzarr.catalog.run_summary import EXIT_ALL_WELL
from shadowzarr.errors import UsageError

from .run_flow import FlowCommand, run_flow
from .watch_config import WatchDeploymentsConfig
from .watch_summary import WatchSummary, watch_end

if TYPE_CHECKING:
    from .json_lines import JsonLines


def plan_watch(config: WatchDeploymentsConfig) -> int:
    """Print what would be looked at."""
    for each in config.deployments:
        print(f"{each.name}: a run completed within {each.within_hours:g} h")
    for output in config.outputs:
        print(f"{output.layout.title}: {output.file} written within {output.within_hours:g} h")
    return EXIT_ALL_WELL


def run_watch(config: WatchDeploymentsConfig, lines: JsonLines | None = None) -> int:
    """Look under Prefect; 1 when something is missing."""

    def look() -> WatchSummary | None:
        if config.deployments and not os.environ.get("PREFECT_API_URL"):
            raise UsageError("deployments are known to a Prefect server; name it by PREFECT_API_URL")
        return None

    command = FlowCommand(
        look=look, load=_load, summary=WatchSummary, end=watch_end, stays="nothing was changed"
    )
    summary = run_flow(config, command, lines)
    if lines is None:
        for each in summary.found:
            if not each.is_missing:  # what is missing has been said
                print(each.line)
    return summary.exit_code


def _load() -> Callable[[Any], object]:
    from .watch_deployments import watch_deployments

    return watch_deployments
