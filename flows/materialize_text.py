"""What is materialized in words: for a terminal, for a log, and for Prefect's page.

Embargoed assets are counted and not named; records in the destination name them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shadowzarr.catalog.materialize_plan import MaterializePlan
from shadowzarr.catalog.materialize_record import MaterializeRecord, MaterializeSummary
from shadowzarr.formatting import format_bytes, format_count

from .summary_text import EMBARGOED_NAME

SHOWN = 50


def record_line(record: MaterializeRecord) -> str:
    """Say in one line which asset failed, and why."""
    name = EMBARGOED_NAME if record.private else f"{record.dandiset} {record.version}  {record.path}"
    reason = "" if record.error is None or record.private else record.error.message
    return f"{record.outcome}  {name}  {reason}".rstrip()


def counts_line(summary: MaterializeSummary) -> str:
    """Say in one line how many assets ended how."""
    return ", ".join(f"{count:,} {name}" for name, count in _counts(summary))


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
    console.print(Text(text), soft_wrap=True)


def markdown_materialized(summary: MaterializeSummary) -> str:
    """Return the summary for Prefect's page."""
    rows = [f"| {name} | {count:,} |" for name, count in _counts(summary)]
    lines = [f"- {record_line(record)}" for record in summary.failures[:SHOWN]]
    return "\n".join(["# materialize_assets", "", "| | assets |", "| --- | ---: |", *rows, "", *lines])


def _counts(summary: MaterializeSummary) -> Iterator[tuple[str, int]]:
    yield from summary.counts.items()
    yield "unchanged", summary.plan.unchanged
    yield from Counter(f"passed over: {each.reason}" for each in summary.plan.passed_over).items()


def _print_passed_over(console: Console, plan: MaterializePlan) -> None:
    for each in [each for each in plan.passed_over if not each.private][:SHOWN]:
        console.print(Text(f"passed over  {each.place}  {each.reason}; {each.detail}"), soft_wrap=True)
