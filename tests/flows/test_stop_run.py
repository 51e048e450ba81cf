"""Runs that are ended from outside, as processes of their own; Prefect has no part in how they end."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from flows.stop_run import SIGNALS, RunStop
from shadowzarr.catalog.lock import output_lock
from shadowzarr.errors import OutputBusyError

ROOT = Path(__file__).resolve().parents[2]

RUN = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from flows.begun_run import begin_run
from flows.stop_run import RunStop
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.index_run import open_workshop
from shadowzarr.catalog.request import IndexRequest

request = IndexRequest(ArchiveAddress("http://127.0.0.1:1/api"), (), Path(sys.argv[1]))
stop = RunStop()
with stop.listening(), begin_run(request, stop=stop) as begun, ChildPool(1) as pool:
    begun.log.plan.work = [None] * 3
    begun.log.records = [None]
    begun.workshop = open_workshop(request, pool)
    begun.hush = lambda: print("hushed", flush=True)
    begun.report_stop = lambda reason: print("reported", reason, flush=True)
    staged = request.public.staging / "asset" / "references.shadowzarr"
    staged.mkdir(parents=True)
    ThreadPoolExecutor(1).submit(pool.run, "time:sleep", 600)
    print(pool._slots[0].ensure_started()._process.pid, flush=True)
    {body}
print("the run ended by itself", flush=True)
"""


@pytest.fixture
def start(tmp_path):
    """Starts a run that waits; gives its process, and that of its child."""
    started = []

    def start(body: str = "time.sleep(600)", **options) -> tuple[subprocess.Popen[str], int]:
        script = tmp_path / "run.py"
        script.write_text(RUN.format(body=textwrap.indent(textwrap.dedent(body), "    ").strip()))
        process = subprocess.Popen(
            [sys.executable, script, tmp_path / "out"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        started.append(process)
        return process, int(process.stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it wrote until its end; `communicate` would lose what `readline` has read ahead."""
    with process:
        return process.stdout.read(), process.stderr.read()


def has_ended(process: int) -> bool:
    for _ in range(200):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_the_run_with_one_message_and_nothing_left(start, tmp_path, name):
    number = signal.Signals[name]
    process, child = start()
    process.send_signal(number)
    out, err = said(process)
    assert err == f"stopped by {name}; 1 of 3 assets done; run again to go on\n"
    assert process.returncode == 128 + number
    assert out == f"hushed\nreported stopped by {name}\n"
    assert has_ended(child)
    assert [path.name for path in (tmp_path / "out" / ".shadowzarr").iterdir()] == ["lock"]


def test_a_second_signal_ends_it_at_once(start):
    process, child = start(
        """
        begun.hush = lambda: time.sleep(600)
        time.sleep(600)
        """
    )
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = said(process)
    assert (process.returncode, err.count("stopped by SIGINT; 1 of 3"), err.count("\n")) == (130, 1, 1)
    assert has_ended(child)


def test_a_signal_that_is_ignored_stays_ignored(start):
    process, _ = start(
        "time.sleep(0.5); print('alive', flush=True); time.sleep(600)",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    process.send_signal(signal.SIGHUP)
    assert process.stdout.readline() == "alive\n"
    process.send_signal(signal.SIGTERM)
    said(process)
    assert process.returncode == 143


def test_another_library_may_take_the_signal_meanwhile(start):
    """As Prefect does while a flow runs."""
    process, _ = start(
        """
        import signal
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("not ours"))
        stop.listen()
        print("ready", flush=True)
        time.sleep(600)
        """
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    _, err = said(process)
    assert err.startswith("stopped by SIGTERM; ")


def test_whatever_is_in_the_way_the_process_ends_and_says_what(start, tmp_path):
    process, _ = start(
        """
        def fail():
            raise OSError("no terminal")
        begun.hush = fail
        time.sleep(600)
        """
    )
    process.send_signal(signal.SIGTERM)
    _, err = said(process)
    assert (process.returncode, len(err.splitlines())) == (143, 1)
    assert "(not all was cleared up: no terminal; the next run does)" in err
    assert (tmp_path / "out" / ".shadowzarr" / "staging" / "asset").is_dir()


def test_the_output_stays_held_until_the_end(start, tmp_path):
    """Whatever the main thread does meanwhile, such as leaving the run."""
    process, _ = start(
        """
        begun.report_stop = lambda reason: time.sleep(2)
        stop.stop("the server is gone", exit_code=1)
        """
    )
    time.sleep(0.5)
    with pytest.raises(OutputBusyError), output_lock(tmp_path / "out" / ".shadowzarr" / "lock"):
        pytest.fail("it was free")
    out, err = said(process)
    assert (process.returncode, out) == (1, "hushed\n")
    assert err == "the server is gone; 1 of 3 assets done; run again to go on\n"


def test_what_a_run_leaves_in_the_end_is_written_whole_or_not_begun(start):
    process, _ = start(
        """
        with begun.finishing():
            stop.stop("first", exit_code=1)
            time.sleep(1)
            print("written", flush=True)
        with begun.finishing():
            print("written twice", flush=True)
        """
    )
    out, _ = said(process)
    assert out == "hushed\nwritten\nreported first\n"


def test_before_anything_is_planned():
    stop = RunStop()
    assert stop._how_far() == "nothing was started; run again"


def test_handlers_are_given_back():
    before = [signal.getsignal(number) for number in SIGNALS]
    with RunStop().listening():
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert [signal.getsignal(number) for number in SIGNALS] == before
