"""How a flow fails that got as far as assets."""

from __future__ import annotations

from shadowzarr.catalog.run_summary import RunSummary
from shadowzarr.errors import ShadowzarrError


class RunFailedError(ShadowzarrError):
    """Assets failed, and the run counts as failed as a whole.

    Parameters
    ----------
    summary : RunSummary
        What was done all the same.
    """

    def __init__(self, summary: RunSummary) -> None:
        failures = summary.failures
        first = f"; the first: {failures[0].error.message}" if failures and failures[0].error else ""
        super().__init__(f"{len(failures)} of {summary.words.counted(len(summary.records))} failed{first}")
        self.summary = summary

    def __reduce__(self) -> tuple[object, ...]:
        return (RunFailedError, (self.summary,))
