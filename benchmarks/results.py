"""What both benchmarks do with their results: keep them as JSON, print the tables, write the page.

The page shows every row that was ever measured in full size, so that one row can be measured again by itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure.outcome import Outcome
from benchmarks.options import PAGE, Options
from benchmarks.tables.comparison import Comparison, details, summary
from benchmarks.tables.markers import write_between


def show(
    name: str, subject: str, comparisons: Sequence[Comparison], options: Options, titles: Sequence[str]
) -> None:
    """Print the tables, and put them into the page when asked to.

    Parameters
    ----------
    name : str
        Of the benchmark.
    subject : str
        Head of the first column.
    comparisons : sequence of Comparison
        What was measured now.
    options : Options
        Of this run.
    titles : sequence of str
        All rows of the page, in their order; those that were never measured are left out.
    """
    print(f"\n{summary(comparisons, subject)}\n\n{details(comparisons)}")
    if options.is_written:
        found = [kept(name, title, options) for title in titles]
        rows = [each for each in found if each is not None]
        write_between(PAGE, name, summary(rows, subject))
        write_between(PAGE, f"{name} in full", details(rows))


def keep(name: str, comparison: Comparison, options: Options) -> None:
    """Write what was measured, all that the tables leave out too."""
    path = _path(name, comparison.title, options)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(comparison), indent=1), encoding="utf-8")


def kept(name: str, title: str, options: Options) -> Comparison | None:
    """Read what `keep` has written of a row; None when there is nothing."""
    path = _path(name, title, options)
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    outcomes = {who: Outcome(**outcome) for who, outcome in found["outcomes"].items()}
    return Comparison(found["title"], outcomes, found["asides"])


def _path(name: str, title: str, options: Options) -> Path:
    words = "".join(letter if letter.isalnum() else "-" for letter in title)
    return options.scratch / "results" / ("quick" if options.is_quick else "full") / name / f"{words}.json"
