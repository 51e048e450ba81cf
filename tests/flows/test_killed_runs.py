"""Runs that report to a served Prefect API, killed at random moments while a reader looks on."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_trees import tree
from changing_archive import ChangingArchive
from other_processes import Meanwhile, moments
from work_to_kill import DANDISET, index_request, look_at_output

from flows.untold import MARK
from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.index_run import index_dandisets as index_without_prefect
from shadowzarr.catalog.jobs import PRELOAD
from shadowzarr.testing import Archive, ArchiveServer

KILLS = int(os.environ.get("KILLED_FLOWS", "2"))
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def archive(write_file, tmp_path):
    contents = Archive()
    contents.add_dandiset(DANDISET)
    for number in range(3):
        contents.add_asset(
            DANDISET, f"{number}.nwb", write_file(tmp_path / "files" / f"{number}", seed=number)
        )
    with ArchiveServer(contents) as server:
        yield server


@contextlib.contextmanager
def started(
    config: Path, prefect_server: str, staging: Path
) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """A run, and the time at which it began to read files, or had ended."""
    command = [sys.executable, "-m", "flows", "run", str(config)]
    environment = os.environ | {"PREFECT_API_URL": prefect_server}
    options = {"start_new_session": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, env=environment, **options) as process:
        while process.poll() is None and not any(staging.glob("*")):
            time.sleep(0.001)
        yield process, time.monotonic()


@pytest.mark.timeout(600 + 40 * KILLS)
def test_killed_at_random_moments_and_run_again(prefect_server, archive, write_file, tmp_path):
    """The whole process group; the run after it, and one without kills, give the same."""
    output, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    staging = output / ".shadowzarr" / "staging"
    config = tmp_path / "config.yaml"
    config.write_text(
        f"flow: index_dandisets\narchive: {archive.api_url}\ndandisets:\n  - id: '{DANDISET}'\n"
        f"output: {output}\nrun: {{concurrency: 1, timeout: 60}}\n"
        "references: {url: blob, chunk_index_threshold: 1}\n"
    )
    changing = ChangingArchive(archive.archive, write_file, tmp_path / "files")

    def run(place: Path) -> None:
        assert index_without_prefect(index_request(archive.api_url, place), pool=pool).exit_code == 0

    killed = 0
    with (
        ChildPool(1, timeout=60, preload=PRELOAD) as pool,
        Meanwhile("work_to_kill:look_at_output", str(output)) as reader,
    ):
        with started(config, prefect_server, staging) as (process, began):
            assert process.wait() == 0
            seconds = time.monotonic() - began
        run(undisturbed)
        assert tree(output) == tree(undisturbed)
        for part in moments(KILLS, "flow"):
            changing.change()
            with started(config, prefect_server, staging) as (process, began):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=part * seconds)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    killed += 1
                else:
                    seconds = min(seconds, time.monotonic() - began)
            look_at_output(str(output))
            run(output)
            run(undisturbed)
            left = tree(output)
            left.pop(f".shadowzarr/{MARK}", None)  # which only a flow takes away that could tell of failures
            assert left == tree(undisturbed)
        changing.change()
        with started(config, prefect_server, staging) as (process, _):
            assert process.wait() == 0
        run(undisturbed)
        assert tree(output) == tree(undisturbed)
    print(f"{killed} of {KILLS} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert reader.counts["sets"] > 0
