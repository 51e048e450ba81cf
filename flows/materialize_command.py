"""What ``python -m flows run`` does for a configuration of the flow materialize_assets."""

from __future__ import annotations

import sys

from shadowzarr.catalog.materialize_plan import MaterializePlan, plan_materialize
from shadowzarr.catalog.materialize_record import MaterializeSummary
from shadowzarr.errors import UsageError

from .materialize_config import MaterializeAssetsConfig
from .stop_run import RunStop


def show_plan(config: MaterializeAssetsConfig) -> int:
    """Print what would be materialized."""
    from rich.console import Console

    from .materialize_text import print_materialize_plan

    config.target.store.check()
    plan, console = _plan(config), Console()
    for warning in config.warnings:
        console.print(f"warning: {warning}", soft_wrap=True, markup=False)
    print_materialize_plan(console, plan, destination=config.target.title)
    return 0


def run_materialize(config: MaterializeAssetsConfig) -> int:
    """Materialize under Prefect; the exit code is that of the summary."""
    from rich.console import Console

    from .materialize_text import print_materialized
    from .under_prefect import api_errors, under_prefect

    target = config.target
    stop = RunStop(how_far=lambda: "what is written stays; run again to go on", let_go=target.store.let_go)
    for warning in config.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    plan = _plan(config)
    with target.store.held():  # so that a second run is told before Prefect starts
        pass
    if not plan.work:
        summary: object = MaterializeSummary(plan)
    else:
        with stop.listening(), under_prefect(lambda reason: stop.stop(reason, exit_code=1)):
            from .materialize_assets import materialize_assets

            stop.listen()
            with api_errors():
                summary = materialize_assets(config)
    if not isinstance(summary, MaterializeSummary):
        raise UsageError(f"the flow ended without a summary: {summary}")
    print_materialized(Console(), summary, destination=target.title)
    return summary.exit_code


def _plan(config: MaterializeAssetsConfig) -> MaterializePlan:
    config.origin.require()
    return plan_materialize(config.origin, config.target, config.rules, config.options)
