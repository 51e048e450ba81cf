"""What the flow watch_deployments found, and how that is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shadowzarr.catalog.run_summary import EXIT_ALL_WELL, EXIT_FAILURE
from shadowzarr.formatting import format_count

from .flow_end import FlowEnd


@dataclass(frozen=True)
class LastRun:
    """What was found of one deployment or output.

    Attributes
    ----------
    subject : str
        Which.
    text : str
        When it last ran, and what is the matter.
    is_missing : bool
        Whether it should have run since.
    """

    subject: str
    text: str
    is_missing: bool

    @property
    def line(self) -> str:
        """The same as a line."""
        return f"{'missing' if self.is_missing else 'well':8}{self.subject}: {self.text}"


@dataclass(frozen=True)
class WatchSummary:
    """All that was looked at."""

    found: Sequence[LastRun]

    @property
    def missing(self) -> list[LastRun]:
        """What should have run since."""
        return [each for each in self.found if each.is_missing]

    @property
    def exit_code(self) -> int:
        """0 when all has run in time, else 1."""
        return EXIT_FAILURE if self.missing else EXIT_ALL_WELL


def watch_end(summary: WatchSummary) -> FlowEnd:
    """How a run ended."""
    missing = len(summary.missing)
    found = format_count(len(summary.found), "deployment or output", "deployments and outputs")
    return FlowEnd(
        f"{missing:,} of {found} missed a run.",
        summary.exit_code,
        {"missing": missing, "well": len(summary.found) - missing},
        failures=[f"{each.subject}: {each.text}" for each in summary.missing],
    )


def markdown_watch(summary: WatchSummary) -> str:
    """The same for Prefect's page."""
    return "\n".join(f"- {each.line}" for each in summary.found)
