"""One asset: its staged references compared with the file itself, and the result in short.

Runs in a child process; the comparison is that of `shadowzarr.verify`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import ShadowzarrError
from ..verify import VerificationReport, verify_rfs
from .records import VerificationSummary
from .resolve import ArchiveAddress

SHOWN_DIFFERENCES = 20


@dataclass(frozen=True)
class VerificationOptions:
    """How references are verified: ``sample``, ``full`` or ``none``, and the seed of the sample."""

    mode: Literal["sample", "full", "none"] = "sample"
    seed: int = 0


@dataclass(frozen=True)
class VerifyJob:
    """What a child process needs to verify one asset.

    Attributes
    ----------
    url : str
        The original.
    staged : Path
        The references.
    options : VerificationOptions
    archive : ArchiveAddress
    """

    url: str
    staged: Path
    options: VerificationOptions
    archive: ArchiveAddress


class ReferencesDifferError(ShadowzarrError):
    """References do not give what the file holds, so they are not published.

    Parameters
    ----------
    summary : VerificationSummary
        What was compared and found.
    """

    def __init__(self, summary: VerificationSummary) -> None:
        first = f": {summary.differences[0]}" if summary.differences else ""
        super().__init__(
            f"the references differ from the file in {summary.difference_count} places{first}; "
            "they are not published. This is a fault of shadowzarr: please report it with the asset's URL"
        )
        self.summary = summary

    def __reduce__(self) -> tuple[object, ...]:
        return (ReferencesDifferError, (self.summary,))


def verify_asset(job: VerifyJob) -> VerificationSummary:
    """Compare staged references with their original.

    Raises
    ------
    ReferencesDifferError
        When they differ.
    ShadowzarrError
        When either cannot be read.
    """
    job.archive.register()
    if job.options.mode == "none":
        return VerificationSummary(mode="none")
    report = verify_rfs(job.staged, job.url, mode=job.options.mode, seed=job.options.seed)
    summary = summarise(report)
    if not summary.equal:
        raise ReferencesDifferError(summary)
    return summary


def summarise(report: VerificationReport) -> VerificationSummary:
    """Shorten a report to what a record keeps."""
    counts = report.counts
    return VerificationSummary(
        mode=report.mode,
        seed=report.seed,
        equal=report.equal,
        objects=sum(counts.get(name, 0) for name in ("groups", "arrays", "attributes", "links")),
        bytes=counts.get("bytes", 0),
        differences=[
            f"{each.path}: {each.kind}: original {each.original}, references {each.references}"
            for each in report.differences[:SHOWN_DIFFERENCES]
        ],
        difference_count=len(report.differences),
        left_out=len(report.left_out),
    )
