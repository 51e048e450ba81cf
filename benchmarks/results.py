"""What both benchmarks do with their results: keep them as JSON, print the tables, write the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.options import PAGE, Options
from benchmarks.tables.comparison import Comparison, details, summary
from benchmarks.tables.markers import write_between


def show(name: str, subject: str, comparisons: Sequence[Comparison], options: Options) -> None:
    """Print the tables, and put them into the page when asked to."""
    short, long = summary(comparisons, subject), details(comparisons)
    print(f"\n{short}\n\n{long}")
    if options.is_written:
        write_between(PAGE, name, short)
        write_between(PAGE, f"{name} in full", long)


def keep(name: str, comparison: Comparison, scratch: Path) -> None:
    """Write what was measured, all that the tables leave out too."""
    folder = scratch / "results" / name
    folder.mkdir(parents=True, exist_ok=True)
    words = "".join(letter if letter.isalnum() else "-" for letter in comparison.title)
    outcomes = {contender: asdict(outcome) for contender, outcome in comparison.outcomes.items()}
    (folder / f"{words}.json").write_text(json.dumps(outcomes, indent=1))
