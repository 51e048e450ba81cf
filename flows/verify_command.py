"""What ``python -m flows run`` does for a configuration of the flow verify_outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shadowzarr.catalog.output_checks import ChecksSummary, PublishedOutput, choose, list_outputs

from .run_flow import FlowCommand, run_flow
from .verify_config import VerifyOutputsConfig
from .warning_lines import warn

if TYPE_CHECKING:
    from .json_lines import JsonLines


def plan_checks(config: VerifyOutputsConfig, lines: JsonLines | None = None) -> int:
    """Print what would be checked."""
    from rich.console import Console

    from .checks_text import check_things, print_choice

    outputs, seed = _outputs(config), config.sample.chosen_seed
    chosen = choose(outputs, count=config.sample.count, seed=seed)
    if lines is not None:
        lines.plan_of(check_things(len(chosen)), warnings=config.warnings, outputs=len(outputs), seed=seed)
        return 0
    console = Console()
    warn(*config.warnings)
    print_choice(console, chosen, outputs=len(outputs), seed=seed)
    return 0


def run_checks(config: VerifyOutputsConfig, lines: JsonLines | None = None) -> int:
    """Check outputs under Prefect; the exit code is that of the summary."""
    from rich.console import Console

    from .checks_text import checks_end, print_checks

    def look() -> ChecksSummary | None:
        return None if _outputs(config) else ChecksSummary(0, config.sample.chosen_seed)

    command = FlowCommand(
        look=look,
        load=_load,
        summary=ChecksSummary,
        end=lambda summary: checks_end(summary, config.layouts[0][0]),
        stays="outputs are only looked at, so nothing is half done",
    )
    summary = run_flow(config, command, lines)
    if lines is None:
        print_checks(Console(), summary, report=checks_end(summary, config.layouts[0][0]).report)
    return summary.exit_code


def _load() -> Callable[[Any], object]:
    from .verify_outputs import verify_outputs

    return verify_outputs


def _outputs(config: VerifyOutputsConfig) -> list[PublishedOutput]:
    config.layouts[0][0].require()
    return list_outputs(config.layouts)
