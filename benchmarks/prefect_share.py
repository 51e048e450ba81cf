"""Time per asset of a run over small assets, with and without Prefect: wall clock, and CPU by process.

    python benchmarks/prefect_share.py [ASSETS]

Everything is served from this machine by a process of its own, which is not counted. Linux only:
CPU times are read from ``/proc`` while the runs last.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
TICK = os.sysconf("SC_CLK_TCK")
LOOK_SECONDS = 0.1
PLAIN = """
import sys
from shadowzarr.catalog.index_run import index_dandisets
from flows.load_config import load_config
summary = index_dandisets(load_config(sys.argv[1]).request)
assert summary.exit_code == 0, summary.outcome_counts
"""


@dataclass
class Watched:
    """CPU seconds of a run's processes by kind, when reading began and in the end, and wall-clock seconds.

    And the most memory, in bytes, that a process of each kind took.
    """

    wall: float = 0.0
    work_wall: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    cpu_before: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)

    def work_cpu(self, kind: str) -> float:
        """CPU seconds after the start."""
        return self.cpu.get(kind, 0.0) - self.cpu_before.get(kind, 0.0)


def main() -> int:
    """Measure and print."""
    assets = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder / "archive" / "000001", assets)
        server, api_url = serve(folder / "archive")
        try:
            config = folder / "config.yaml"
            for turn in range(2):
                for kind, command in (
                    ("without Prefect", ["-c", PLAIN, str(config)]),
                    ("with Prefect", ["-m", "flows", "run", str(config)]),
                ):
                    output = folder / f"{kind} {turn}"
                    config.write_text(
                        f"flow: index_dandisets\narchive: {api_url}\ndandisets: ['000001']\n"
                        f"output: {output}\nrun: {{concurrency: 2}}\n"
                    )
                    show(kind, watch(command, output), assets)
        finally:
            server.kill()
            server.wait()
    return 0


def write_files(folder: Path, count: int) -> None:
    """Write small files of different content, as NWB files are laid out but without NWB."""
    folder.mkdir(parents=True)
    for number in range(count):
        with h5py.File(folder / f"{number:04d}.nwb", "w") as file:
            data = np.arange(20_000) + number
            file.create_dataset("acquisition/data", data=data, chunks=(2_000,), compression="gzip")
            file["acquisition/timestamps"] = np.linspace(0, number + 1, 5_000)
            file["identifier"] = f"file {number}"


def serve(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Serve a folder as an archive in a process of its own, and return its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "shadowzarr", "archive", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        for word in line.split():
            if word.startswith("http") and word.rstrip("/").endswith("/api"):
                return process, word
    raise SystemExit("the archive did not start")


def watch(command: list[str], output: Path, *, codes: tuple[int, ...] = (0,)) -> Watched:
    """Run a command, and count the CPU time of it and of all its descendants by kind."""
    found = Watched()
    last: dict[int, tuple[str, float]] = {}
    started, first = time.monotonic(), 0.0
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, *command], env=environment, cwd=ROOT, stdout=subprocess.DEVNULL
    )
    while process.poll() is None:
        last |= cpu_times(process.pid)
        for pid, (kind, _) in last.items():
            found.memory[kind] = max(found.memory.get(kind, 0), most_memory(pid))
        if not first and any(kind == "children" for kind, _ in last.values()):
            first, found.cpu_before = time.monotonic(), total(last)
        time.sleep(LOOK_SECONDS)
    if process.returncode not in codes:
        raise SystemExit(f"exit code {process.returncode}")
    ended = max(path.stat().st_mtime for path in output.rglob("*.record.json"))
    found.wall = time.monotonic() - started
    if first:  # a run that finds nothing to do reads nothing
        found.work_wall = ended - (time.time() - (time.monotonic() - first))
    found.cpu = total(last)
    return found


def cpu_times(root: int) -> dict[int, tuple[str, float]]:
    """CPU seconds so far of a process and its descendants, each with its kind."""
    parents, times = {}, {}
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            words = (place / "cmdline").read_text()
        except OSError:
            continue
        if not words:
            continue  # it has ended; its last times are known
        pid = int(place.name)
        parents[pid] = int(fields[1])
        times[pid] = (kind_of(pid, root, words), (int(fields[11]) + int(fields[12])) / TICK)
    return {pid: times[pid] for pid in times if descends(pid, root, parents)}


def most_memory(pid: int) -> int:
    """Bytes that a process took at most so far; none when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def kind_of(pid: int, root: int, words: str) -> str:
    """Tell the run's own process, those that read files, and Prefect's server apart."""
    if pid == root:
        return "main"
    return "children" if "child_main" in words else "server"


def descends(pid: int, root: int, parents: dict[int, int]) -> bool:
    """Whether a process is the root or comes from it."""
    while pid and pid != root:
        pid = parents.get(pid, 0)
    return pid == root


def total(times: dict[int, tuple[str, float]]) -> dict[str, float]:
    """Sum CPU seconds by kind."""
    sums: dict[str, float] = {}
    for kind, seconds in times.values():
        sums[kind] = sums.get(kind, 0.0) + seconds
    return sums


def show(name: str, found: Watched, assets: int) -> None:
    """Print one run."""
    parts = ", ".join(
        f"{kind} {1000 * found.work_cpu(kind) / assets:.0f}" for kind in ("main", "server", "children")
    )
    print(
        f"{name}: {found.wall:.1f} s in all, {found.wall - found.work_wall:.1f} s of it around the work; "
        f"per asset {1000 * found.work_wall / assets:.0f} ms wall clock, CPU ms: {parts}; "
        f"load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
