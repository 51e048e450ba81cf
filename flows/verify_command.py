"""What ``python -m flows run`` does for a configuration of the flow verify_outputs."""

from __future__ import annotations

import sys

from shadowzarr.catalog.output_checks import ChecksSummary, PublishedOutput, choose, list_outputs
from shadowzarr.errors import UsageError

from .stop_run import RunStop
from .verify_config import VerifyOutputsConfig


def plan_checks(config: VerifyOutputsConfig) -> int:
    """Print what would be checked."""
    from rich.console import Console

    from .checks_text import print_choice

    outputs, seed = _outputs(config), config.sample.chosen_seed
    chosen = choose(outputs, count=config.sample.count, seed=seed)
    console = Console()
    for warning in config.warnings:
        console.print(f"warning: {warning}", soft_wrap=True, markup=False)
    print_choice(console, chosen, outputs=len(outputs), seed=seed)
    return 0


def run_checks(config: VerifyOutputsConfig) -> int:
    """Check outputs under Prefect; the exit code is that of the summary."""
    from rich.console import Console

    from .checks_text import print_checks
    from .under_prefect import api_errors, under_prefect

    stop = RunStop(how_far=lambda: "outputs are only looked at, so nothing is half done")
    for warning in config.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if not _outputs(config):
        summary: object = ChecksSummary(0, config.sample.chosen_seed)
    else:
        with stop.listening(), under_prefect(lambda reason: stop.stop(reason, exit_code=1)):
            from .verify_outputs import verify_outputs

            stop.listen()
            with api_errors():
                summary = verify_outputs(config)
    if not isinstance(summary, ChecksSummary):
        raise UsageError(f"the flow ended without a summary: {summary}")
    print_checks(Console(), summary)
    return summary.exit_code


def _outputs(config: VerifyOutputsConfig) -> list[PublishedOutput]:
    config.layouts[0][0].require()
    return list_outputs(config.layouts)
