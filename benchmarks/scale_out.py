"""One archive, indexed by one machine, by one and by two workers of Prefect, and by a cluster of Dask.

    python -m benchmarks.scale_out [ASSETS] [WAY ...]

The archive is that of `benchmarks.mixed_archive`; the ways are machine, worker, workers and dask. All report
to one served Prefect, on PostgreSQL with Redis where these are installed. Each worker takes one part at a
time and reads by one process; the machine and the cluster read by two. It ends with an error when outputs
differ by more than times, or places at the server are held afterwards. Linux only: CPU times are read from
``/proc`` while the runs last.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import WorkerStatus
from prefect.settings import PREFECT_API_URL, temporary_settings

from tests.support.archive_trees import tree
from tests.support.served_prefect import process, served_prefect, server

from .mixed_archive import EXPECTED, MixedArchive, build, config_text, wrong_causes
from .prefect_share import ROOT, cpu_times

POOL = "scale-out"
LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class Way:
    """How an archive is indexed.

    Attributes
    ----------
    title : str
    readers : int
        Processes that read files, in each run or part.
    workers : int
        Workers of Prefect, each for one part at a time.
    more : str
        What the configuration says besides.
    """

    title: str
    readers: int
    workers: int = 0
    more: str = ""


WAYS = {
    "machine": Way("one machine, 2 processes", 2),
    "worker": Way("1 worker, 1 process", 1, workers=1, more="split: {}\n"),
    "workers": Way("2 workers, 1 process each", 1, workers=2, more="split: {}\n"),
    "dask": Way("Dask, 2 workers", 2),
}
CHANGES = {"dask": ["--set", "run.task_runner=dask"]}


class MissingProgramError(Exception):
    """A program of the distribution is not installed."""


@dataclass
class Cpu:
    """CPU seconds so far, by process: of a run and its workers, and of the server that they report to."""

    of_run: dict[int, float] = field(default_factory=dict)
    of_server: dict[int, float] = field(default_factory=dict)

    def look(self, roots: list[int]) -> None:
        """Note the times of processes that are there now."""
        everything = cpu_times(os.getpid())
        self.of_run |= {pid: seconds for root in roots for pid, (_, seconds) in cpu_times(root).items()}
        self.of_server |= {
            pid: seconds
            for pid, (_, seconds) in everything.items()
            if pid != os.getpid() and pid not in self.of_run
        }


def main() -> int:
    """Run, compare and print."""
    assets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    names = sys.argv[2:] or list(WAYS)
    os.environ.update({"PREFECT_LOGGING_LEVEL": "CRITICAL", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = build(folder / "files", assets, bad=max(len(EXPECTED), assets * 3 // 100))
        with made.server, prefect(folder / "prefect"):
            return _all(made, folder, names, assets)


@contextlib.contextmanager
def prefect(home: Path) -> Iterator[None]:
    """Prefect's server, with a work pool and the deployment of parts."""
    with contextlib.ExitStack() as stack:
        try:
            api_url = stack.enter_context(served_prefect(_program, home))
            print("Prefect's server is on PostgreSQL, with Redis", flush=True)
        except MissingProgramError as error:
            print(f"Prefect's server is on SQLite, as {error} is not installed", flush=True)
            api_url = stack.enter_context(server({"PREFECT_HOME": str(home)}))
        stack.enter_context(temporary_settings({PREFECT_API_URL: api_url}))
        os.environ["PREFECT_API_URL"] = api_url
        with get_client(sync_client=True) as client:
            client.create_work_pool(WorkPoolCreate(name=POOL, type="process"))
            client.create_deployment(
                client.create_flow_from_name("index-part"),
                "part",
                work_pool_name=POOL,
                entrypoint="flows.index_part.index_part",
                pull_steps=[{"prefect.deployments.steps.set_working_directory": {"directory": str(ROOT)}}],
                concurrency_limit=2,
            )
        yield


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MissingProgramError(name)
    return found


def _all(made: MixedArchive, folder: Path, names: list[str], assets: int) -> int:
    wrong, first = [], None
    for name in names:
        output = folder / name
        _run(name, made, output, assets)
        wrong += [f"{name}: {line}" for line in wrong_causes(made, output)]
        found = tree(output, but="parts")
        first = found if first is None else first
        if found != first:
            places = sorted(key for key in found.keys() | first.keys() if found.get(key) != first.get(key))
            wrong.append(f"{name} differs from {names[0]}: {', '.join(places[:5])}")
        held = slots_held()
        print(f"  {len(found)} files and folders, {held} places held at the server", flush=True)
        if held:
            wrong.append(f"{name}: {held} places are held")
    print("\n".join(wrong) or "all outputs are equal but for times, and every asset ended as it should")
    return 1 if wrong else 0


def _run(name: str, made: MixedArchive, output: Path, assets: int) -> None:
    """Run the command with workers beside it, and print what that took."""
    way, cpu = WAYS[name], Cpu()
    config = output.with_suffix(".yaml")
    config.write_text(config_text(made.server.api_url, output, concurrency=way.readers) + way.more)
    with contextlib.ExitStack() as stack:
        wanted = {f"{name}-{number}" for number in range(way.workers)}
        roots = [stack.enter_context(worker(each)).pid for each in sorted(wanted)]
        while not wanted <= workers_online():  # those of a schedule are there before it
            time.sleep(LOOK_SECONDS)
        cpu.look(roots)
        at_start = Cpu(dict(cpu.of_run), dict(cpu.of_server))
        started = time.monotonic()
        command = [sys.executable, "-m", "flows", "run", str(config), *CHANGES.get(name, [])]
        run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while run.poll() is None:
            cpu.look([run.pid, *roots])
            time.sleep(LOOK_SECONDS)
        wall = time.monotonic() - started
    if run.returncode not in (0, 1):
        raise SystemExit(f"{name}: exit code {run.returncode}")
    of_run = sum(cpu.of_run.values()) - sum(at_start.of_run.values())
    of_server = sum(cpu.of_server.values()) - sum(at_start.of_server.values())
    print(
        f"{way.title}: {wall:.1f} s, {wall / assets:.3f} s per asset; CPU {of_run:.0f} s "
        f"({of_run / assets:.3f} s per asset), Prefect's server {of_server:.0f} s; "
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors",
        flush=True,
    )


@contextlib.contextmanager
def worker(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that takes one run at a time."""
    options = ["--pool", POOL, "--type", "process", "--name", name, "--limit", "1"]
    command = [sys.executable, "-m", "prefect", "worker", "start", *options]
    with process(command, environment={"PREFECT_WORKER_QUERY_SECONDS": "2"}) as running:
        yield running


def workers_online() -> set[str]:
    """Names of the workers that ask the pool for runs."""
    with get_client(sync_client=True) as client:
        found = client.read_workers_for_work_pool(POOL)
    return {each.name for each in found if each.status is WorkerStatus.ONLINE}


def slots_held() -> int:
    """Places that runs hold at the server, once those that ended have been given back."""
    with get_client(sync_client=True) as client:
        for _ in range(50):
            limits = client.read_global_concurrency_limits(limit=200)
            held = sum(limit.active_slots for limit in limits)
            if not held:
                break
            time.sleep(0.2)
    return held


if __name__ == "__main__":
    sys.exit(main())
