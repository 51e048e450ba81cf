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
SLOWER = 10
"""How much slower the server is over which serial depth is counted."""
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
    everything = tasks(is_quick=options.is_quick)
    wanted = [each for each in everything if options.takes(each.name)]
    comparisons = []
    slow = SLOWER * options.latency
    with (
        served(
            options.scratch, options.port, latency=options.latency, bandwidth=options.bandwidth
        ) as address,
        served(options.scratch, 0, latency=slow, bandwidth=options.bandwidth) as slow_address,
    ):
        for task in wanted:
            bench = _Bench(task, options)
            comparison = bench.compare(address)
            if not task.is_local:
                comparison = bench.with_depth(comparison, slow_address, slow / 3)
            results.keep("generate", comparison, options)
            comparisons.append(comparison)
    results.show("generate", "file", comparisons, options, [each.title for each in everything])
    return 0


def tasks(*, is_quick: bool) -> list[Task]:
    """Give all rows."""
    catalogue = files(is_quick=is_quick)
    listed = [Task(name, catalogue[name].title, catalogue[name], is_local=False) for name in REMOTE]
    for name in LOCAL:
        title = f"{catalogue[name].title}, local disk, generated and written"
        listed.append(Task(f"{name}-local", title, catalogue[name], is_local=True))
    return listed


class _Bench:
    """Everybody making references of one file."""

    def __init__(self, task: Task, options: Options) -> None:
        self._task, self._options = task, options
        self._path, self._warm_up = task.file.write(options.scratch), WARM_UP.write(options.scratch)
        self._truth = truth_of(self._path, task.file.dataset)
        makers = generating.local if task.is_local else generating.remote
        self._everybody = makers(options.scratch)

    def compare(self, address: str) -> Comparison:
        """Take everybody's time, then that of the limit."""
        repeats = self._options.repeats
        arguments = self._arguments(address)

        def run(contender: Contender) -> Outcome:
            return self._run(contender, arguments, address)

        outcomes = interleaved(chosen(self._everybody, self._options), run, repeats=repeats)
        if self._task.is_local or outcomes[OURS].ranges:
            if not self._task.is_local:
                arguments |= {"address": address, "ranges": outcomes[OURS].ranges}
            outcomes |= interleaved([generating.limit()], run, repeats=repeats)
        asides = {each.name: each.aside for each in self._everybody if each.aside}
        return Comparison(self._task.title, outcomes, asides)

    def with_depth(self, comparison: Comparison, address: str, turn_around: float) -> Comparison:
        """Count what waits for what, of ours and the limit, which have many requests under way.

        Ours runs once more over a slower server, where the time that a busy machine takes between an answer
        and the next request is small beside an answer's.
        """
        outcomes = dict(comparison.outcomes)
        ours = next(each for each in self._everybody if each.name == OURS)
        slow = self._run(ours, self._arguments(address), address, turn_around)
        if slow.seconds is not None:
            outcomes[OURS] = replace(outcomes[OURS], depth=slow.depth)
        if LIMIT in outcomes:
            outcomes[LIMIT] = replace(outcomes[LIMIT], depth=1)  # it waits for nothing but its places
        return replace(comparison, outcomes=outcomes)

    def _arguments(self, address: str) -> dict[str, Any]:
        place = str(self._path.parent) if self._task.is_local else f"{address}/{FOLDER}"
        return {
            "source": f"{place}/{self._path.name}",
            "warm_up": f"{place}/{self._warm_up.name}",
            "dataset": self._task.file.dataset,
            "chunks": self._truth["chunks"],
        }

    def _run(
        self, contender: Contender, arguments: dict[str, Any], address: str, turn_around: float | None = None
    ) -> Outcome:
        outcome = run_contender(
            contender, arguments, address=address, timeout=self._options.timeout, turn_around=turn_around
        )
        checked = _checked(contender.name, outcome, self._truth)
        print(f"{self._task.name}: {contender.name}: {checked.seconds} s {checked.note}", flush=True)
        return checked


def _checked(name: str, outcome: Outcome, truth: dict[str, int | str]) -> Outcome:
    """The outcome with what is wrong with its answer, if anything."""
    if outcome.seconds is None or name == LIMIT:
        return outcome
    return replace(outcome, note=differences(outcome.answer, truth))


if __name__ == "__main__":
    sys.exit(main())
