"""How a run of a flow that does not index ended: for JSON lines, for who is notified, for Prefect's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shadowzarr.catalog.run_summary import EXIT_FAILURE

from .notify import SHOWN_FAILURES, Notifier


@dataclass(frozen=True)
class FlowEnd:
    """What came of a run, in words and counts; embargoed assets are counted and not named.

    Attributes
    ----------
    text : str
        In a sentence.
    exit_code : int
    outcomes : dict of str to int
        Things by outcome.
    failures : sequence of str
        A line for each.
    reasons : sequence of str
        Why the exit code is what it is.
    passed_over : dict of str to int
        Things by the reason for which they were passed over.
    report : str
        Where more is written; nothing where that is nowhere.
    output : str
        Where the results are.
    """

    text: str
    exit_code: int
    outcomes: dict[str, int]
    failures: Sequence[str] = ()
    reasons: Sequence[str] = ()
    passed_over: dict[str, int] = field(default_factory=dict)
    report: str = ""
    output: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the exit code is that of failures."""
        return self.exit_code == EXIT_FAILURE

    def tell(self, notifier: Notifier, *, seconds: float, has_prefect: bool = True) -> None:
        """Have somebody told, unless they were; arguments as for `Notifier.tell`."""
        failures = list(self.failures)
        notifier.tell(
            " ".join([self.text, *self.reasons]),
            exit_code=self.exit_code,
            has_prefect=has_prefect,
            outcomes=self.outcomes,
            failures=failures[:SHOWN_FAILURES],
            more_failures=max(0, len(failures) - SHOWN_FAILURES),
            report=self.report,
            output=self.output,
            seconds=seconds,
        )
