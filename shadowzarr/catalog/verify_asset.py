"""One asset: its staged references compared with the file itself, and the result in short.

Runs in a child process; the comparison is that of `shadowzarr.verify`.
"""

from __future__ import annotations

from dataclasses import replace

from ..access.range_reader import limit_requests
from ..access.traffic import counted
from ..errors import ReferencesDifferError, SourceChangedError
from ..verify import VerificationReport, verify_rfs
from ..verify.failed_reads import FailedReads
from .jobs import VerifyJob
from .records import VerificationSummary

SHOWN_DIFFERENCES = 20


def verify_asset(job: VerifyJob) -> VerificationSummary:
    """Compare staged references with their original.

    Raises
    ------
    ReferencesDifferError
        When they differ.
    SourceChangedError
        When the file is not the one that was indexed.
    ShadowzarrError
        When either cannot be read.
    """
    job.archive.register()
    limit_requests(job.requests)
    if job.options.mode == "none":
        return VerificationSummary(mode="none")
    with counted() as traffic:
        reads = FailedReads(traffic, job.url)
        report = verify_rfs(job.staged, job.local or job.url, mode=job.options.mode, seed=job.options.seed)
    summary = replace(summarise(report), retries=traffic.retries)
    if report.replaced:
        raise SourceChangedError(report.replaced)
    if not summary.equal:
        reads.check()  # of a local copy: what the references read is the asset's all the same
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
