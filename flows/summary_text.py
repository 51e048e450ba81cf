"""A plan and a run in words and tables: for a terminal, for a log, and for Prefect's page.

Embargoed assets are counted and not named; the report in the private output names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from shadowzarr.catalog.estimate import Estimate
from shadowzarr.catalog.index_run import RunLog
from shadowzarr.catalog.plan import UNCHANGED
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_summary import KeptResult, RunSummary
from shadowzarr.formatting import format_bytes, format_count, format_seconds

SHOWN_WORK = 20
SHOWN_FAILURES = 20
SHOWN_KEPT = 20
OUTCOMES = {"indexed": "indexed and verified", "partial": "indexed, objects left out", "failed": "failed"}
EMBARGOED_NAME = "(an embargoed asset)"


def print_plan(console: Console, log: RunLog, *, output: str, warnings: Iterable[str]) -> None:
    """Print what a run would do."""
    work, skipped = log.plan.work, log.plan.skipped
    table = Table("source", "version", "to index", "bytes", "passed over")
    for version in log.versions:
        place = (version.dandiset, version.version)
        mine = [each for each in work if (each.asset.dandiset, each.asset.version) == place]
        reasons = Counter(each.reason for each in skipped if (each.dandiset, each.version) == place)
        table.add_row(
            *place,
            f"{len(mine):,}",
            format_bytes(sum(each.asset.size for each in mine)),
            ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common()) or "none",
        )
    console.print(table)
    for each in work[:SHOWN_WORK]:
        name = EMBARGOED_NAME if each.private else each.asset.path
        console.print(
            Text(f"  {each.asset.dandiset}  {name}  {format_bytes(each.asset.size)}  ({each.cause})"),
            soft_wrap=True,
        )
    if len(work) > SHOWN_WORK:
        console.print(f"  … and {len(work) - SHOWN_WORK:,} more")
    _print_kept(console, log.plan.kept)
    _print_warnings(console, [*warnings, *log.plan.warnings])
    console.print(
        Text(f"{len(work):,} assets would be indexed into {output}; nothing was done."), soft_wrap=True
    )


def print_estimate(console: Console, estimate: Estimate, *, currency: str) -> None:
    """Print what a plan will take; nothing when there is nothing to do."""
    if not estimate.assets:
        return
    basis = (
        f"what {format_count(estimate.records, 'asset')} took before"
        if estimate.records
        else "sizes alone, for there are no records yet: a rough one"
    )
    pointed = f", {estimate.pointed:,} of them by references that are known" if estimate.pointed else ""
    text = (
        f"Estimate, from {basis}: {format_count(estimate.assets, 'asset')}{pointed}; "
        f"{format_count(estimate.requests, 'request')} and {format_bytes(estimate.bytes_read)} read to index "
        f"(verification not counted), {format_bytes(estimate.bytes_written)} written, "
        f"{format_seconds(estimate.seconds)}"
    )
    cost = f", {estimate.cost:,.2f} {currency}" if estimate.cost is not None else ""
    console.print(Text(text + cost), soft_wrap=True)


def print_summary(console: Console, summary: RunSummary, *, report: str, names_failures: bool = True) -> None:
    """Print what a run has done; failures only by their number when they were told as they happened."""
    console.print(Group(_outcome_table(summary)))
    if names_failures:
        _print_failures(console, summary)
    if summary.not_started:
        console.print(
            f"{summary.not_started:,} assets were not started, because one had failed (on_error: stop)"
        )
    _print_kept(console, summary.kept)
    _print_warnings(console, summary.warnings)
    console.print(Text(f"report: {report}"), soft_wrap=True)


def failure_line(record: IndexRecord) -> str:
    """Say in one line which asset failed where and why."""
    name = EMBARGOED_NAME if record.private else record.path
    return f"failed  {record.dandiset}  {name}  {record.failure_text}"


def markdown_summary(summary: RunSummary) -> str:
    """Return the summary for Prefect's page."""
    rows = [f"| {name} | {count:,} |" for name, count in _counts(summary)]
    failures = [f"- {failure_line(record)}" for record in summary.failures[:SHOWN_FAILURES]]
    return "\n".join(
        [f"# {summary.flow}: {format_count(len(summary.records), 'asset')} in {summary.seconds:.0f} s", ""]
        + ["| | assets |", "| --- | ---: |", *rows, ""]
        + (["## Failures", "", *failures] if failures else [])
        + [f"- {line}" for line in [*_kept_lines(summary.kept), *summary.warnings]]
    )


def _counts(summary: RunSummary) -> list[tuple[str, int]]:
    outcomes = summary.outcome_counts
    found = [(text, outcomes[name]) for name, text in OUTCOMES.items() if name in outcomes]
    reasons = Counter(asset.reason for asset in summary.skipped)
    found += [
        (reason if reason == UNCHANGED else f"passed over: {reason}", n)
        for reason, n in reasons.most_common()
    ]
    return found + ([("not started", summary.not_started)] if summary.not_started else [])


def _outcome_table(summary: RunSummary) -> Table:
    good = [record for record in summary.records if record.outcome != "failed"]
    table = Table(show_header=False)
    for name, count in _counts(summary):
        table.add_row(name, f"{count:,}", style="red" if name == "failed" else None)
    if good:
        table.add_section()
        table.add_row("source files", format_bytes(sum(record.size for record in good)))
        table.add_row("references", format_bytes(sum(record.references_bytes for record in good)))
        table.add_row("chunks", f"{sum(record.counts.chunks for record in good):,}")
    table.add_section()
    table.add_row("time", format_seconds(summary.seconds))
    if summary.startup_seconds:
        table.add_row("  of it Prefect's start", format_seconds(summary.startup_seconds))
    return table


def _print_failures(console: Console, summary: RunSummary) -> None:
    for record in summary.failures[:SHOWN_FAILURES]:
        console.print(Text(failure_line(record), style="red"), soft_wrap=True)
    if len(summary.failures) > SHOWN_FAILURES:
        console.print(f"… and {len(summary.failures) - SHOWN_FAILURES:,} more; the report names all")


def _print_kept(console: Console, kept: Sequence[KeptResult]) -> None:
    for line in _kept_lines(kept):
        console.print(Text(line), soft_wrap=True)


def _kept_lines(kept: Sequence[KeptResult]) -> list[str]:
    """Name results whose assets are gone."""
    lines = [
        f"no longer in the version: {each.fate}  {each.dandiset}  "
        f"{EMBARGOED_NAME if each.private else each.path}  ({each.what})"
        for each in kept[:SHOWN_KEPT]
    ]
    more = len(kept) - SHOWN_KEPT
    return lines + ([f"… and {more:,} more that are no longer in their version"] if more > 0 else [])


def _print_warnings(console: Console, warnings: Iterable[str]) -> None:
    for warning in warnings:
        console.print(Text(f"warning: {warning}", style="yellow"), soft_wrap=True)
