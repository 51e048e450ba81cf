"""How fast references are read, ours and others': ``python -m benchmarks.read`` (``--help``)."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py

from benchmarks import results
from benchmarks.contenders import generating, reading
from benchmarks.contenders.environments import LIMIT, OURS
from benchmarks.contenders.read.nwb import describe
from benchmarks.contenders.read.selections import digest, slices
from benchmarks.files.catalogue import WARM_UP
from benchmarks.files.written_file import FOLDER, BenchmarkFile
from benchmarks.measure.outcome import Outcome
from benchmarks.measure.rounds import interleaved
from benchmarks.measure.run_contender import Contender, run_contender
from benchmarks.options import Options, chosen, read_options
from benchmarks.patterns import Pattern, patterns
from benchmarks.serving.server_process import served
from benchmarks.tables.comparison import Comparison

REFERENCES = "references"
QUICK = ("open-served", "neighbours", "nwb")
"""Patterns of a quick run, unless others are asked for."""


def main() -> int:
    """Measure, print, and write."""
    options = read_options("Measure how fast references are read.", QUICK)
    everything = patterns(is_quick=options.is_quick)
    wanted = [each for each in everything if options.takes(each.name)]
    comparisons = []
    with served(
        options.scratch, options.port, latency=options.latency, bandwidth=options.bandwidth
    ) as address:
        bench = _Bench(address, options)
        for pattern in wanted:
            comparison = bench.compare(pattern)
            results.keep("read", comparison, options)
            comparisons.append(comparison)
    results.show("read", "pattern", comparisons, options, [each.title for each in everything])
    return 0


class _Bench:
    """One run: where things are, and which references are made."""

    def __init__(self, address: str, options: Options) -> None:
        self._address, self._options = address, options
        self._made: set[tuple[str, bool, str]] = set()

    def compare(self, pattern: Pattern) -> Comparison:
        """Let everybody read one pattern."""
        for file in (pattern.file, WARM_UP):
            file.write(self._options.scratch)
            self._make_references(file, pattern)
        truth = truth_of(pattern, self._options.scratch)
        task: dict[str, Any] = {
            "place": self._place(pattern.file, pattern),
            "warm_up": self._place(WARM_UP, pattern),
            "selections": pattern.selections,
        }

        def run(contender: Contender) -> Outcome:
            outcome = self._run(contender, task)
            if outcome.seconds is not None and contender.name != LIMIT and outcome.answer != truth:
                outcome = replace(outcome, note="wrong values")
            print(f"{pattern.name}: {contender.name}: {outcome.seconds} s {outcome.note}", flush=True)
            return outcome

        repeats = self._options.repeats
        everybody = self._everybody(pattern)
        outcomes = interleaved(chosen(everybody, self._options), run, repeats=repeats)
        if outcomes[OURS].ranges:
            task |= {"address": self._address, "ranges": outcomes[OURS].ranges}
            outcomes |= interleaved([generating.limit()], run, repeats=repeats)
        asides = {each.name: each.aside for each in everybody if each.aside}
        return Comparison(pattern.title, outcomes, asides)

    def _everybody(self, pattern: Pattern) -> list[Contender]:
        scratch = self._options.scratch
        if pattern.is_nwb:
            return reading.nwb(scratch)
        settings = reading.ZARR_CONCURRENCIES[: 1 if self._options.is_quick else None]
        return reading.everybody(scratch, is_local=pattern.is_local, concurrencies=settings)

    def _run(self, contender: Contender, task: dict[str, Any]) -> Outcome:
        return run_contender(contender, task, address=self._address, timeout=self._options.timeout)

    def _place(self, file: BenchmarkFile, pattern: Pattern) -> dict[str, str | None]:
        """Where a file and its references are found."""
        root = self._address if pattern.is_served else str(self._options.scratch)
        folder = self._folder(pattern.is_local)
        return {
            "references": f"{root}/{folder}/{file.file_name}",
            "source": self._source(file, is_local=pattern.is_local),
            "dataset": file.dataset,
        }

    def _source(self, file: BenchmarkFile, *, is_local: bool) -> str:
        path = file.path(self._options.scratch)
        return str(path) if is_local else f"{self._address}/{FOLDER}/{path.name}"

    def _folder(self, is_local: bool) -> str:
        """References name their source, and the port is in its address."""
        return f"{REFERENCES}/{'local' if is_local else self._options.port}"

    def _make_references(self, file: BenchmarkFile, pattern: Pattern) -> None:
        """Make all forms, once in a run; others' are kept from run to run."""
        path = file.path(self._options.scratch)
        folder = self._options.scratch / self._folder(pattern.is_local)
        folder.mkdir(parents=True, exist_ok=True)
        task = {
            "path": str(path),
            "source": self._source(file, is_local=pattern.is_local),
            "dataset": file.dataset,
            "target": str(folder / file.file_name),
        }
        makers = reading.makers(self._options.scratch, with_json=pattern.is_nwb)
        for maker in chosen(makers, self._options):
            stamp = folder / f"{file.file_name}.{maker.name}.made"
            done = (file.file_name, pattern.is_local, maker.name)
            if done in self._made or (maker.name != OURS and _is_newer(stamp, path)):
                continue
            outcome = self._run(maker, task)
            print(f"references of {file.name}: {maker.name}: {outcome.seconds} s {outcome.note}", flush=True)
            if outcome.seconds is not None:
                stamp.touch()
            self._made.add(done)


def _is_newer(stamp: Path, path: Path) -> bool:
    return stamp.exists() and stamp.stat().st_mtime >= path.stat().st_mtime


def truth_of(pattern: Pattern, scratch: Path) -> Any:
    """What h5py reads of the local file."""
    path = pattern.file.path(scratch)
    if pattern.is_nwb:
        from pynwb import NWBHDF5IO

        with NWBHDF5IO(path, mode="r") as io:
            return describe(io.read())
    with h5py.File(path) as file:
        dataset = file[pattern.file.dataset]
        return digest(dataset[slices(each)] for each in pattern.selections)


if __name__ == "__main__":
    sys.exit(main())
