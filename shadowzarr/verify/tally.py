"""Collecting a report while the comparison runs.

The one mutable thing of a verification; everything else returns values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .failed_reads import FailedReads
from .report import COUNTED, Difference, LeftOut, Mode, Plain, VerificationReport, short


class Tally:
    """Counts, differences, objects left out and mappings used, so far.

    Parameters
    ----------
    reads : FailedReads, optional
        What knows of reads that failed: one is no difference, and ends the comparison.
    """

    def __init__(self, reads: FailedReads | None = None) -> None:
        self._reads = reads
        self._counts: Counter[str] = Counter()
        self._mappings: Counter[str] = Counter()
        self._differences: list[Difference] = []
        self._left_out: list[LeftOut] = []

    def count(self, name: str, number: int = 1) -> None:
        """Add to one of `COUNTED`."""
        self._counts[name] += number

    def used(self, mapping: str, number: int = 1) -> None:
        """Count that a row of the table of mappings was relied on."""
        if number:
            self._mappings[mapping] += number

    def differ(self, path: str, kind: str, original: Any, references: Any) -> None:
        """Add a difference; the values are shortened, and `Plain` text is shown without quotes."""
        self.check_reads()
        self._differences.append(Difference(_absolute(path), kind, short(original), short(references)))

    def leave_out(self, path: str, kind: str, reason: str) -> None:
        """Add an object that the document says it leaves out."""
        self.check_reads()
        self._left_out.append(LeftOut(_absolute(path), kind, reason))

    def check_reads(self) -> None:
        """Raise what a read ended with, unless the references may be the cause; see `FailedReads.check`."""
        if self._reads is not None:
            self._reads.check()

    @property
    def differences(self) -> Sequence[Difference]:
        """The differences so far."""
        return self._differences

    def report(self, mode: Mode, seed: int, *, references: str, original: str) -> VerificationReport:
        """The report of what was collected; raises as `check_reads` does."""
        self.check_reads()
        return VerificationReport(
            mode=mode,
            seed=seed,
            references=references,
            original=original,
            counts={name: self._counts[name] for name in COUNTED},
            differences=list(self._differences),
            left_out=list(self._left_out),
            mappings=dict(sorted(self._mappings.items())),
        )


NOTHING = Plain("nothing")
"""What a report shows for the side that has no such object."""


def printable(path: str) -> str:
    """A path as a document can hold it: bytes of a name that are not UTF-8 are escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _absolute(path: str) -> str:
    path = printable(path)
    return path if path.startswith("/") else f"/{path}"
