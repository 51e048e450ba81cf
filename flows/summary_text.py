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
from shadowzarr.catalog.plan import NO_ETAG, UNCHANGED, UNUSABLE_IDENTITY, UNUSABLE_PATH
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_summary import (
    EXIT_FAILURE,
    EXIT_LEFT_OUT,
    QUARANTINED,
    KeptResult,
    RunSummary,
    SkippedAsset,
)
from shadowzarr.catalog.run_words import RunWords
from shadowzarr.formatting import format_bytes, format_count, format_seconds

from .warning_lines import warn

SHOWN_WORK = 20
LEAST_PRICE = 0.01
"""Below that a price is not written in figures."""
SHOWN_FAILURES = 20
SHOWN_KEPT = 20
SHOWN_PASSED = 20
NAMED_REASONS = (QUARANTINED, UNUSABLE_PATH, UNUSABLE_IDENTITY, NO_ETAG)
"""Why an asset is passed over although it is wanted, so that somebody should know which it is."""
OUTCOMES = {"indexed": "{} and verified", "partial": "{}, objects left out", "failed": "failed"}
"""How assets ended, and what was done with them in the braces."""
EMBARGOED_NAME = "(an embargoed asset)"
EMBARGOED_DETAIL = "the report in the private output says more"


def print_plan(
    console: Console,
    log: RunLog,
    *,
    output: str,
    warnings: Iterable[str],
    words: RunWords = RunWords(),  # noqa: B008 - it cannot be changed
) -> None:
    """Print what a run would do, and warnings to standard error; ``words`` say it."""
    work, skipped = log.plan.work, log.plan.skipped
    table = Table("source", "version", f"to {words.verb}", "bytes", "passed over")
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
    _print_lines(console, [*_passed_lines(skipped), *_kept_lines(log.plan.kept)])
    warn(*warnings, *log.plan.warnings)
    console.print(
        Text(f"{words.counted(len(work))} would be {words.done} into {output}; nothing was done."),
        soft_wrap=True,
    )


def print_estimate(
    console: Console,
    estimate: Estimate,
    *,
    currency: str,
    words: RunWords = RunWords(),  # noqa: B008 - it cannot be changed
) -> None:
    """Print what a plan will take; nothing when there is nothing to do."""
    if not estimate.assets:
        return
    basis = (
        f"what {words.counted(estimate.records)} took before"
        if estimate.records
        else "sizes alone (a rough one: there are no records yet)"
    )
    pointed = f", {estimate.pointed:,} of them by references that are known" if estimate.pointed else ""
    remote = (
        f"{format_count(estimate.requests, 'request')} and {format_bytes(estimate.bytes_read)} read "
        f"to {words.verb} (verification not counted), "
    )
    text = (
        f"Estimate, from {basis}: {words.counted(estimate.assets)}{pointed}; "
        f"{remote if estimate.requests else 'no requests, '}{format_bytes(estimate.bytes_written)} written, "
        f"{format_seconds(estimate.seconds)}"
    )
    cost = "" if estimate.cost is None else f", {_price(estimate.cost)} {currency}"
    console.print(Text(text + cost), soft_wrap=True)


def _price(cost: float) -> str:
    return "less than 0.01" if 0 < cost < LEAST_PRICE else f"{cost:,.2f}"


def print_summary(console: Console, summary: RunSummary, *, report: str, names_failures: bool = True) -> None:
    """Print what a run has done; failures only by their number when they were told as they happened."""
    console.print(Group(_outcome_table(summary)))
    if names_failures:
        _print_failures(console, summary)
    if summary.not_started:
        left = summary.words.counted(summary.not_started)
        console.print(f"{left} not started, because one had failed (on_error: stop)")
    _print_lines(console, [*_passed_lines(summary.skipped), *_kept_lines(summary.kept)])
    warn(*summary.warnings)
    _print_lines(console, [f"report: {report}", *exit_lines(summary)])


def failure_line(record: IndexRecord) -> str:
    """Say in one line which asset failed where and why."""
    name = EMBARGOED_NAME if record.private else record.path
    return f"failed  {record.dandiset}  {name}  {record.failure_text}"


def untold_line(asset: SkippedAsset) -> str:
    """Say in one line which asset failed in an earlier run, and why."""
    if asset.private:
        return f"failed before  {asset.dandiset}  {EMBARGOED_NAME}  {EMBARGOED_DETAIL}"
    return f"failed before  {asset.dandiset}  {asset.path}  {asset.detail}"


def exit_lines(summary: RunSummary) -> list[str]:
    """Say why the exit code is none that says all went well; nothing when it does."""
    partial, noun = summary.outcome_counts.get("partial", 0), summary.words.noun
    reasons = {
        EXIT_FAILURE: [
            (len(summary.failures), noun, "failed"),
            (summary.not_started, noun, "not started"),
            (summary.repositories_failed, "dandiset", "whose Icechunk repository failed"),
            (summary.stores_failed, "Zarr store", "not written"),
        ],
        EXIT_LEFT_OUT: [
            (partial, f"{summary.words.done} {noun}", "with objects left out"),
            (summary.left_out_before, f"unchanged {noun}", "with objects left out by an earlier run"),
            (summary.quarantined, noun, "in quarantine"),
            (summary.repositories_partial, "dandiset", "whose Icechunk repository lacks something"),
            (summary.stores_lacking, "asset", "without a Zarr store, or with objects left out of it"),
        ],
    }.get(summary.exit_code, [])
    return exit_line(summary.exit_code, reasons)


def exit_line(exit_code: int, reasons: Iterable[tuple[int, str, str]]) -> list[str]:
    """Say why an exit code is what it is: triples of a count, a noun, and what is wrong with so many."""
    found = [f"{format_count(count, noun)} {what}" for count, noun, what in reasons if count]
    return [f"exit code {exit_code}: {', '.join(found)}"] if found else []


def markdown_summary(summary: RunSummary) -> str:
    """Return the summary for Prefect's page."""
    rows = [f"| {name} | {count:,} |" for name, count in _counts(summary)]
    failures = [f"- {failure_line(record)}" for record in summary.failures[:SHOWN_FAILURES]]
    return "\n".join(
        [f"# {summary.flow}: {summary.words.counted(len(summary.records))} in {summary.seconds:.0f} s", ""]
        + [f"| | {summary.words.nouns} |", "| --- | ---: |", *rows, ""]
        + (["## Failures", "", *failures] if failures else [])
        + [
            f"- {line}"
            for line in [*_passed_lines(summary.skipped), *_kept_lines(summary.kept), *summary.warnings]
        ]
    )


def _counts(summary: RunSummary) -> list[tuple[str, int]]:
    outcomes = summary.outcome_counts
    found = [
        (text.format(summary.words.done), outcomes[name])
        for name, text in OUTCOMES.items()
        if name in outcomes
    ]
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


def _print_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _passed_lines(skipped: Iterable[SkippedAsset]) -> list[str]:
    """Name assets that are wanted and passed over all the same, with the reason."""
    named = [asset for asset in skipped if asset.reason in NAMED_REASONS]
    lines = [
        f"{asset.reason}  {asset.dandiset}  {EMBARGOED_NAME if asset.private else asset.path}  "
        f"({EMBARGOED_DETAIL if asset.private else asset.detail})"
        for asset in named[:SHOWN_PASSED]
    ]
    more = len(named) - SHOWN_PASSED
    return lines + ([f"… and {more:,} more that are passed over; the report names all"] if more > 0 else [])


def _kept_lines(kept: Sequence[KeptResult]) -> list[str]:
    """Name results whose assets are gone."""
    lines = [
        f"no longer in the version: {each.fate}  {each.dandiset}  "
        f"{EMBARGOED_NAME if each.private else each.path}  ({each.what})"
        for each in kept[:SHOWN_KEPT]
    ]
    more = len(kept) - SHOWN_KEPT
    return lines + ([f"… and {more:,} more that are no longer in their version"] if more > 0 else [])
