"""What ``python -m flows run`` does for a configuration of the flow materialize_assets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shadowzarr.catalog.materialize_plan import MaterializePlan, plan_materialize
from shadowzarr.catalog.materialize_record import MaterializeSummary

from .materialize_config import MaterializeAssetsConfig
from .run_flow import FlowCommand, run_flow
from .warning_lines import warn

if TYPE_CHECKING:
    from .json_lines import JsonLines


def show_plan(config: MaterializeAssetsConfig, lines: JsonLines | None = None) -> int:
    """Print what would be materialized."""
    from rich.console import Console

    from .materialize_text import materialized_things, print_materialize_plan

    config.target.store.check()
    plan, console = _plan(config), Console()
    if lines is not None:
        lines.plan_of(materialized_things(plan), warnings=config.warnings, unchanged=plan.unchanged)
        return 0
    warn(*config.warnings)
    print_materialize_plan(console, plan, destination=config.target.title)
    return 0


def run_materialize(config: MaterializeAssetsConfig, lines: JsonLines | None = None) -> int:
    """Materialize under Prefect; the exit code is that of the summary."""
    from rich.console import Console

    from .materialize_text import materialized_end, print_materialized

    target = config.target

    def look() -> MaterializeSummary | None:
        plan = _plan(config)
        with target.store.held():  # so that a second run is told before Prefect starts
            pass
        return None if plan.work else MaterializeSummary(plan)

    command = FlowCommand(
        look=look,
        load=_load,
        summary=MaterializeSummary,
        end=lambda summary: materialized_end(summary, target),
        stays="what is written stays; run again to go on",
        let_go=target.store.let_go,
    )
    summary = run_flow(config, command, lines)
    if lines is None:
        print_materialized(Console(), summary, destination=target.title)
    return summary.exit_code


def _load() -> Callable[[Any], object]:
    from .materialize_assets import materialize_assets

    return materialize_assets


def _plan(config: MaterializeAssetsConfig) -> MaterializePlan:
    config.origin.require()
    return plan_materialize(config.origin, config.target, config.rules, config.options)
