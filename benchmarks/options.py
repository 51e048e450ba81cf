"""Options that both benchmarks have."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contenders.environments import OURS
from benchmarks.measure.run_contender import Contender
from benchmarks.serving.server_process import ROOT

PAGE = ROOT / "docs" / "performance.md"


@dataclass(frozen=True)
class Options:
    """What was asked for.

    Attributes
    ----------
    scratch : Path
        Folder of files, references and results.
    is_quick : bool
        Small files, one run of each.
    only : list of str
        Names of the tasks to do; all when empty.
    contenders : list of str
        Beginnings of names of contenders; all when empty. Ours always takes part.
    port : int
        Of the server.
    latency : float
        Seconds before every answer.
    bandwidth : float or None
        Bytes per second.
    timeout : float
        Seconds that a contender may take.
    repeats : int
        Runs of a short contender.
    is_written : bool
        Whether the tables go into the page.
    """

    scratch: Path
    is_quick: bool
    only: list[str]
    contenders: list[str]
    port: int
    latency: float
    bandwidth: float | None
    timeout: float
    repeats: int
    is_written: bool

    def takes(self, task: str) -> bool:
        """Whether a task is done."""
        return not self.only or task in self.only


def chosen(everybody: Sequence[Contender], options: Options) -> list[Contender]:
    """Ours and those that were asked for."""
    wanted = tuple(options.contenders)
    return [each for each in everybody if not wanted or each.name == OURS or each.name.startswith(wanted)]


def read_options(description: str, quick: Sequence[str], arguments: list[str] | None = None) -> Options:
    """Read the command line.

    Parameters
    ----------
    description : str
        For ``--help``.
    quick : sequence of str
        Tasks of a quick run.
    arguments : list of str, optional
        Those of the process by default.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "bench", help="folder to work in")
    parser.add_argument("--quick", action="store_true", help="small files and one run of each")
    parser.add_argument("--only", nargs="*", default=[], help="tasks by name")
    parser.add_argument("--contenders", nargs="*", default=[], help="contenders by the beginnings of names")
    parser.add_argument("--port", type=int, default=8177, help="of the server; references hold it")
    parser.add_argument("--latency", type=float, default=30.0, help="milliseconds before every answer")
    parser.add_argument("--bandwidth", type=float, help="megabytes per second; no limit by default")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds that a contender may take")
    parser.add_argument("--repeats", type=int, default=3, help="runs of a short contender")
    parser.add_argument("--write", action="store_true", help=f"put the tables into docs/{PAGE.name}")
    found = parser.parse_args(arguments)
    return Options(
        scratch=found.scratch.resolve(),
        is_quick=found.quick,
        only=found.only or (list(quick) if found.quick else []),
        contenders=found.contenders,
        port=found.port,
        latency=found.latency / 1000,
        bandwidth=found.bandwidth * 1e6 if found.bandwidth else None,
        timeout=found.timeout,
        repeats=1 if found.quick else found.repeats,
        is_written=found.write,
    )
