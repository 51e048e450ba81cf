"""What is materialized in words: for a terminal, for a log, and for Prefect's page.

Embargoed assets are counted and not named; records in the destination name them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.materialize_plan import MaterializePlan
from shadowzarr.catalog.materialize_record import MaterializeRecord, MaterializeSummary
from shadowzarr.catalog.materialize_run import SUMMARY_NAME
from shadowzarr.catalog.run_summary import EXIT_FAILURE, EXIT_LEFT_OUT
from shadowzarr.formatting import format_bytes, format_count

from .flow_end import FlowEnd
from .summary_text import EMBARGOED_NAME, exit_line
from .things import Things

SHOWN = 50


def record_line(record: MaterializeRecord) -> str:
    """Say in one line which asset failed, and why."""
    name = EMBARGOED_NAME if record.private else f"{record.dandiset} {record.version}  {record.path}"
    reason = "" if record.error is None or record.private else record.error.message
    return f"{record.outcome}  {name}  {reason}".rstrip()


def counts_line(summary: MaterializeSummary) -> str:
    """Say in one line how many assets ended how."""
    return ", ".join(f"{count:,} {name}" for name, count in _counts(summary))


def materialized_things(plan: MaterializePlan) -> Things[MaterializeRecord]:
    """What a run will work on; bytes are those of values before compression."""
    return Things(
        noun="asset",
        plural="assets",
        verb="materialize",
        doing="materializing",
        sizes=[work.record.counts.array_bytes for work in plan.work],
        size=lambda record: record.facts.value_bytes,
        is_failed=lambda record: record.error is not None,
        line=lambda record: record_line(record) if record.error is not None else "",
        event=_event,
        passed_over=_passed_over(plan),
    )


def materialized_end(summary: MaterializeSummary, target: OutputLayout) -> FlowEnd:
    """How a run ended."""
    failed = len(summary.failures)
    return FlowEnd(
        f"{failed:,} of {format_count(len(summary.records), 'asset')} failed.",
        summary.exit_code,
        summary.counts,
        failures=[record_line(record) for record in summary.failures],
        reasons=exit_lines(summary),
        passed_over=_passed_over(summary.plan),
        report=target.store.location(SUMMARY_NAME) if summary.records else "",
        output=target.title,
    )


def failure_rows(summary: MaterializeSummary) -> list[dict[str, Any]]:
    """Rows of the table of failures; embargoed assets have no names there."""
    return [
        {
            "dandiset": record.dandiset,
            "asset": EMBARGOED_NAME if record.private else record.path,
            "kind": record.error.kind if record.error is not None else "",
            "cause": "" if record.error is None or record.private else record.error.message,
        }
        for record in summary.failures
    ]


def exit_lines(summary: MaterializeSummary) -> list[str]:
    """Say why the exit code is none that says all went well; nothing when it does."""
    plan = summary.plan
    reasons = {
        EXIT_FAILURE: [(len(summary.failures), "asset", "failed")],
        EXIT_LEFT_OUT: [
            (len(plan.passed_over), "asset", "passed over"),
            (summary.counts.get("partial", 0), "store", "with objects left out"),
            (plan.left_out_before, "unchanged store", "with objects left out"),
        ],
    }.get(summary.exit_code, [])
    return exit_line(summary.exit_code, reasons)


def print_materialize_plan(console: Console, plan: MaterializePlan, *, destination: str) -> None:
    """Print what would be done."""
    for work in plan.work[:SHOWN]:
        console.print(Text(f"  {EMBARGOED_NAME if work.record.private else work.store}"), soft_wrap=True)
    if len(plan.work) > SHOWN:
        console.print(f"  … and {len(plan.work) - SHOWN:,} more")
    _print_passed_over(console, plan)
    text = (
        f"{format_count(len(plan.work), 'asset')} would be materialized into {destination}, "
        f"{format_bytes(plan.value_bytes)} of values before compression; {plan.unchanged:,} unchanged; "
        "nothing was done."
    )
    console.print(Text(text), soft_wrap=True)


def print_materialized(console: Console, summary: MaterializeSummary, *, destination: str) -> None:
    """Print what was done."""
    table = Table(show_header=False)
    for name, count in _counts(summary):
        table.add_row(name, f"{count:,}")
    console.print(table)
    _print_passed_over(console, summary.plan)
    values = sum(record.facts.value_bytes for record in summary.records)
    stored = sum(record.facts.stored_bytes for record in summary.records)
    text = f"{format_bytes(values)} of values in {format_bytes(stored)}: {destination}"
    for line in [text, *exit_lines(summary)]:
        console.print(Text(line), soft_wrap=True)


def markdown_materialized(summary: MaterializeSummary) -> str:
    """Return the summary for Prefect's page."""
    rows = [f"| {name} | {count:,} |" for name, count in _counts(summary)]
    lines = [f"- {record_line(record)}" for record in summary.failures[:SHOWN]]
    return "\n".join(["# materialize_assets", "", "| | assets |", "| --- | ---: |", *rows, "", *lines])


def _counts(summary: MaterializeSummary) -> Iterator[tuple[str, int]]:
    yield from summary.counts.items()
    yield "unchanged", summary.plan.unchanged
    for reason, count in _passed_over(summary.plan).items():
        yield f"passed over: {reason}", count


def _passed_over(plan: MaterializePlan) -> dict[str, int]:
    return dict(Counter(each.reason for each in plan.passed_over))


def _event(record: MaterializeRecord) -> dict[str, Any]:
    error = record.error
    return {
        "dandiset": record.dandiset,
        "version": record.version,
        "path": None if record.private else record.path,
        "outcome": record.outcome,
        "bytes": record.facts.value_bytes,
        "bytes_stored": record.facts.stored_bytes,
        "seconds": record.seconds,
        "error": None
        if error is None
        else {
            "stage": error.stage,
            "kind": error.kind,
            "message": None if record.private else error.message,
            "transient": error.transient,
        },
    }


def _print_passed_over(console: Console, plan: MaterializePlan) -> None:
    for each in [each for each in plan.passed_over if not each.private][:SHOWN]:
        console.print(Text(f"passed over  {each.place}  {each.reason}; {each.detail}"), soft_wrap=True)
