"""Repositories that are refreshed, in words: for a terminal, for a log, and for Prefect's page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from shadowzarr.catalog.refresh.report import RefreshSummary, RepositoryReport
from shadowzarr.catalog.refresh.request import RefreshRequest
from shadowzarr.catalog.run_summary import EXIT_ALL_WELL, EXIT_FAILURE
from shadowzarr.formatting import format_bytes, format_count

from .flow_end import FlowEnd
from .things import Things

SHOWN = 10
"""Names of each kind that are shown."""


def report_line(report: RepositoryReport, *, is_done: bool = True) -> str:
    """Say in one line what was done about a repository, or would be."""
    if report.error:
        return f"failed  {report.dandiset}  {report.error}"
    return f"{report.dandiset} {report.version}  {_done(report, is_done=is_done)}"


def report_lines(report: RepositoryReport) -> list[str]:
    """Say what was done about a repository, then, indented, what is not in it."""
    return [report_line(report), *(f"  {line}" for line in _left_out(report))]


def refresh_things(count: int) -> Things[RepositoryReport]:
    """What a run will refresh, whose sizes are not known."""
    return Things(
        noun="repository",
        plural="repositories",
        verb="refresh",
        doing="refreshing",
        sizes=[0] * count,
        is_failed=lambda report: bool(report.error),
        line=lambda report: "\n".join(report_lines(report)),
        event=report_event,
    )


def refresh_end(summary: RefreshSummary, request: RefreshRequest) -> FlowEnd:
    """How a run ended."""
    outcomes = Counter(_outcome(report) for report in summary.repositories)
    return FlowEnd(
        f"{len(summary.failures):,} of {_repositories(summary.repositories)} failed.",
        summary.exit_code,
        dict(outcomes),
        failures=[report_line(report) for report in summary.failures],
        reasons=_exit_lines(summary),
        output=request.place,
    )


def failure_rows(summary: RefreshSummary) -> list[dict[str, Any]]:
    """Rows of the table of failures."""
    return [{"dandiset": report.dandiset, "cause": report.error} for report in summary.failures]


def report_event(report: RepositoryReport) -> dict[str, Any]:
    """What a program is told of a repository; embargoed assets are counted and not named."""
    return {
        "dandiset": report.dandiset,
        "version": report.version or None,
        "outcome": _outcome(report),
        "changes": report.change.counts,
        "assets": report.assets,
        "snapshot": report.snapshot,
        "tags": [tag.version for tag in report.tags if tag.snapshot],
        "missing": [{"path": each.path, "reason": each.reason} for each in report.missing],
        "embargoed": report.embargoed,
        "error": report.error or None,
    }


def print_refresh(console: Console, summary: RefreshSummary) -> None:
    """Print what came of the run in all; each repository was told as it came."""
    reports = summary.repositories
    text = f"{_repositories(reports)} looked at, "
    text += f"{sum(each.snapshot is not None for each in reports):,} of them changed"
    console.print(Text(text + (f", {len(summary.failures):,} failed" if summary.failures else "")))
    for line in _exit_lines(summary):
        console.print(Text(line), soft_wrap=True)


def print_refresh_plan(console: Console, reports: Sequence[RepositoryReport]) -> None:
    """Print what would be done."""
    for report in reports:
        console.print(Text(report_line(report, is_done=False)), soft_wrap=True)
        for line in [*_changes(report), *_tags(report), *_left_out(report)]:
            console.print(Text(f"  {line}"), soft_wrap=True)
        if report.expired:
            console.print(Text(f"  would expire: {format_count(report.expired, 'snapshot')}"), soft_wrap=True)
    console.print(f"{_repositories(reports)} would be refreshed; nothing was done.")


def markdown_refresh(summary: RefreshSummary) -> str:
    """Return the summary for Prefect's page."""
    lines = [f"# refresh_icechunk: {_repositories(summary.repositories)}", ""]
    for report in summary.repositories:
        lines += [f"- {report_line(report)}", *(f"  - {line}" for line in _left_out(report))]
    return "\n".join(lines)


def _exit_lines(summary: RefreshSummary) -> list[str]:
    """Say why the exit code is none that says all went well; nothing when it does."""
    if summary.exit_code == EXIT_ALL_WELL:
        return []
    if summary.exit_code == EXIT_FAILURE:
        return [f"exit code {EXIT_FAILURE}: {_repositories(summary.failures)} failed"]
    lacking = _repositories([report for report in summary.repositories if report.is_left_out])
    return [f"exit code {summary.exit_code}: {lacking} lacking assets or versions"]


def _outcome(report: RepositoryReport) -> str:
    if report.error:
        return "failed"
    return "changed" if report.change.counts or report.snapshot is not None else "unchanged"


def _repositories(reports: Sequence[RepositoryReport]) -> str:
    return format_count(len(reports), "repository", "repositories")


def _done(report: RepositoryReport, *, is_done: bool) -> str:
    parts = [f"{count:,} {name}" for name, count in report.change.counts.items()] or ["nothing changed"]
    parts.append(f"{format_count(report.assets, 'asset')} in all")
    made = [tag.version for tag in report.tags if tag.snapshot]
    parts += [f"tagged {', '.join(made)}"] if made else []
    if is_done and report.expired:
        parts.append(f"{format_count(report.expired, 'snapshot')} expired")
    if report.deleted_bytes:
        parts.append(f"{format_bytes(report.deleted_bytes)} deleted")
    return ", ".join(parts)


def _changes(report: RepositoryReport) -> Iterator[str]:
    for write in report.change.writes[:SHOWN]:
        before = f" (was {write.renamed_from})" if write.renamed_from else ""
        yield f"{write.cause}: {write.wanted.asset.path}{before}"
    yield from _more(len(report.change.writes))
    for path in report.change.gone[:SHOWN]:
        yield f"removed: {path}"
    yield from _more(len(report.change.gone))


def _tags(report: RepositoryReport) -> Iterator[str]:
    return (f"would be tagged: {tag.version}" for tag in report.tags if not tag.reason and not tag.snapshot)


def _left_out(report: RepositoryReport) -> Iterator[str]:
    """What is not in the repository; embargoed assets are counted and not named."""
    for each in report.missing[:SHOWN]:
        yield f"missing: {each.path}: {each.reason}"
    yield from _more(len(report.missing))
    if report.embargoed:
        yield f"left out: {format_count(report.embargoed, 'embargoed asset')}"
    for tag in report.tags:
        if tag.reason:
            yield f"not tagged: {tag.version}: {tag.reason}"


def _more(count: int) -> Iterator[str]:
    if count > SHOWN:
        yield f"… and {count - SHOWN:,} more"
