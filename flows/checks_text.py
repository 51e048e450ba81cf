"""Checks of outputs in words: for a terminal, for a log, and for Prefect's page.

Embargoed assets are counted and not named; ``verification.json`` in the private output names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.output_checks import CHECKS_NAME, ChecksSummary, OutputCheck, PublishedOutput
from shadowzarr.catalog.run_summary import EXIT_FAILURE, EXIT_LEFT_OUT
from shadowzarr.formatting import format_count

from .flow_end import FlowEnd
from .summary_text import EMBARGOED_NAME
from .things import Things

SHOWN = 50
VERDICTS = {
    "equal": "equal to their sources",
    "stale": "stale: the source is another file now, or gone",
    "broken": "broken",
    "unchecked": "could not be checked",
}


def check_line(check: OutputCheck) -> str:
    """Say in one line what is wrong with which output."""
    if check.private:
        return f"{check.verdict}  {EMBARGOED_NAME}"
    name = f"{check.dandiset} {check.version}  {check.path}" if check.path else check.record
    return f"{check.verdict}  {name}  {check.reason}"


def check_things(count: int) -> Things[OutputCheck]:
    """What a run will look at, whose sizes are not known."""
    return Things(
        noun="output",
        plural="outputs",
        verb="check",
        doing="checking",
        sizes=[0] * count,
        is_failed=lambda check: check.verdict != "equal",
        line=lambda check: check_line(check) if check.verdict != "equal" else "",
        event=_event,
    )


def checks_end(summary: ChecksSummary, public: OutputLayout) -> FlowEnd:
    """How a run ended."""
    wrong = _wrong(summary)
    return FlowEnd(
        f"{len(wrong):,} of {format_count(len(summary.checks), 'output')} are not as they should be.",
        summary.exit_code,
        summary.counts,
        failures=[check_line(check) for check in wrong],
        reasons=exit_lines(summary),
        report=public.store.location(CHECKS_NAME) if summary.checks else "",
        output=public.title,
    )


def check_rows(summary: ChecksSummary) -> list[dict[str, Any]]:
    """Rows of the table of what is not equal; embargoed assets have no names there."""
    return [
        {
            "dandiset": check.dandiset,
            "asset": EMBARGOED_NAME if check.private else check.path or check.record,
            "verdict": check.verdict,
            "reason": "" if check.private else check.reason,
        }
        for check in _wrong(summary)
    ]


def print_checks(console: Console, summary: ChecksSummary, *, report: str) -> None:
    """Print what was found; ``report`` is where it is written, if anything is."""
    table = Table(show_header=False)
    for verdict, text in VERDICTS.items():
        if verdict in summary.counts:
            table.add_row(text, f"{summary.counts[verdict]:,}")
    if summary.checks:
        console.print(table)
    chosen = f", chosen by seed {summary.seed}" if len(summary.checks) < summary.outputs else ""
    text = f"{format_count(len(summary.checks), 'output')} of {summary.outputs:,} checked{chosen}"
    console.print(Text(text), soft_wrap=True)
    if report:
        console.print(Text(f"report: {report}"), soft_wrap=True)
    for line in exit_lines(summary):
        console.print(Text(line), soft_wrap=True)


def exit_lines(summary: ChecksSummary) -> list[str]:
    """Say why the exit code is none that says all went well; nothing when it does."""
    names = {EXIT_FAILURE: ("stale", "broken"), EXIT_LEFT_OUT: ("unchecked",)}.get(summary.exit_code, ())
    counts = summary.counts
    found = [f"{format_count(counts[name], 'output')} {name}" for name in names if name in counts]
    return [f"exit code {summary.exit_code}: {', '.join(found)}"] if found else []


def print_choice(console: Console, chosen: Sequence[PublishedOutput], *, outputs: int, seed: int) -> None:
    """Print what would be checked."""
    for each in chosen[:SHOWN]:
        console.print(Text(f"  {EMBARGOED_NAME if each.private else each.name}"), soft_wrap=True)
    if len(chosen) > SHOWN:
        console.print(f"  … and {len(chosen) - SHOWN:,} more")
    seeded = f" (seed {seed})" if len(chosen) < outputs else ""
    text = f"{len(chosen):,} of {outputs:,} outputs would be checked{seeded}; nothing was done."
    console.print(Text(text), soft_wrap=True)


def markdown_checks(summary: ChecksSummary) -> str:
    """Return the summary for Prefect's page."""
    rows = [f"| {VERDICTS[name]} | {count:,} |" for name, count in summary.counts.items()]
    wrong = _wrong(summary)
    return "\n".join(
        [f"# verify_outputs: {len(summary.checks):,} of {summary.outputs:,} outputs", ""]
        + ["| | outputs |", "| --- | ---: |", *rows, ""]
        + [f"- {line}" for line in _lines(wrong)]
    )


def _wrong(summary: ChecksSummary) -> list[OutputCheck]:
    return [check for check in summary.checks if check.verdict != "equal"]


def _event(check: OutputCheck) -> dict[str, Any]:
    return {
        "dandiset": check.dandiset,
        "version": check.version,
        "path": None if check.private else check.path,
        "outcome": check.verdict,
        "reason": None if check.private or not check.reason else check.reason,
    }


def _lines(checks: Iterable[OutputCheck]) -> list[str]:
    counted = Counter(check_line(check) for check in checks)
    return [line if n == 1 else f"{line} ({n:,} times)" for line, n in list(counted.items())[:SHOWN]]
