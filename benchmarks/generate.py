"""How fast references are made, ours and others': ``python -m benchmarks.generate`` (``--help``)."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import results
from benchmarks.contenders import generating
from benchmarks.contenders.environments import LIMIT, OURS
from benchmarks.contenders.generate.found import differences
from benchmarks.contenders.generate.truth import truth_of
from benchmarks.files.catalogue import WARM_UP, files
from benchmarks.files.written_file import FOLDER, BenchmarkFile
from benchmarks.measure.outcome import Outcome
from benchmarks.measure.rounds import interleaved
from benchmarks.measure.run_contender import Contender, run_contender
from benchmarks.options import Options, chosen, read_options
from benchmarks.serving.server_process import served
from benchmarks.tables.comparison import Comparison

REMOTE = (
    "scattered",
    "v2-b-tree",
    "extensible-array",
    "fixed-array",
    "objects",
    "nwb-100",
    "nwb-400",
    "recording",
    "tiny",
)
LOCAL = ("tiny", "scattered")
QUICK = ("scattered", "v2-b-tree", "objects", "tiny-local")
"""Tasks of a quick run, unless others are asked for."""


@dataclass(frozen=True)
class Task:
    """One row of the table."""

    name: str
    title: str
    file: BenchmarkFile
    is_local: bool


def main() -> int:
    """Measure, print, and write."""
    options = read_options("Measure how fast references are made.", QUICK)
    comparisons = []
    with served(
        options.scratch, options.port, latency=options.latency, bandwidth=options.bandwidth
    ) as address:
        for task in tasks(options):
            comparison = compare(task, address, options)
            results.keep("generate", comparison, options.scratch)
            comparisons.append(comparison)
    results.show("generate", "file", comparisons, options)
    return 0


def tasks(options: Options) -> list[Task]:
    """The rows that were asked for."""
    catalogue = files(is_quick=options.is_quick)
    listed = [Task(name, catalogue[name].title, catalogue[name], is_local=False) for name in REMOTE]
    for name in LOCAL:
        title = f"{catalogue[name].title}, local disk, generated and written"
        listed.append(Task(f"{name}-local", title, catalogue[name], is_local=True))
    return [each for each in listed if options.takes(each.name)]


def compare(task: Task, address: str, options: Options) -> Comparison:
    """Let everybody make references of one file."""
    path, warm_up = task.file.write(options.scratch), WARM_UP.write(options.scratch)
    truth = truth_of(path, task.file.dataset)
    place = str(path.parent) if task.is_local else f"{address}/{FOLDER}"
    arguments: dict[str, Any] = {
        "source": f"{place}/{path.name}",
        "warm_up": f"{place}/{warm_up.name}",
        "dataset": task.file.dataset,
        "chunks": truth["chunks"],
    }

    def run(contender: Contender) -> Outcome:
        outcome = run_contender(contender, arguments, address=address, timeout=options.timeout)
        checked = _checked(contender.name, outcome, truth)
        print(f"{task.name}: {contender.name}: {checked.seconds} s {checked.note}", flush=True)
        return checked

    everybody = (generating.local if task.is_local else generating.remote)(options.scratch)
    outcomes = interleaved(chosen(everybody, options), run, repeats=options.repeats)
    if not task.is_local and outcomes[OURS].seconds is not None:
        arguments |= {"address": address, "ranges": outcomes[OURS].ranges}
    outcomes |= interleaved([generating.limit()], run, repeats=options.repeats)
    return Comparison(task.title, outcomes, {each.name: each.aside for each in everybody if each.aside})


def _checked(name: str, outcome: Outcome, truth: dict[str, int | str]) -> Outcome:
    """The outcome with what is wrong with its answer, if anything."""
    if outcome.seconds is None or name == LIMIT:
        return outcome
    return replace(outcome, note=differences(outcome.answer, truth))


if __name__ == "__main__":
    sys.exit(main())
