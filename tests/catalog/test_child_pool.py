"""Real crashes, hangs and memory hogs: each costs its own job and nothing else."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.process_facts import crash_message, resident_bytes
from shadowzarr.errors import (
    ChildCrashedError,
    ChildOutOfMemoryError,
    ChildStartError,
    ChildTimedOutError,
    ForeignJobError,
    PoolClosedError,
    TransientReadError,
    UsageError,
)

EVAL = "builtins:eval"
linux_only = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc"
)


@pytest.fixture(scope="module")
def pool():
    with ChildPool(1) as pool:
        yield pool


def process_of(pool: ChildPool) -> int:
    return pool.run("os:getpid").value


def test_a_job_runs_in_another_process_which_serves_the_next_one_too(pool):
    first, second = process_of(pool), process_of(pool)
    assert first == second != os.getpid()


def test_the_result_tells_which_worker_it_was(pool):
    result = pool.run("math:hypot", 3, 4)
    assert (result.value, result.worker) == (5.0, 0)


def test_progress_is_reported_as_it_happens(pool, tmp_path):
    (tmp_path / "counting_job.py").write_text(
        "def count(n, progress):\n    [progress(i) for i in range(n)]\n    return 'done'\n"
    )
    pool.run("builtins:exec", f"import sys; sys.path.append({str(tmp_path)!r})")
    seen = []
    assert pool.run("counting_job:count", 3, progress=seen.append).value == "done"
    assert seen == [0, 1, 2]


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        ("os:abort", (), "SIGABRT"),
        ("ctypes:string_at", (0,), "SIGSEGV"),
        (EVAL, ("__import__('os').kill(__import__('os').getpid(), 8)",), "SIGFPE"),
        (EVAL, ("__import__('os').kill(__import__('os').getpid(), 9)",), "SIGKILL"),
        ("os:_exit", (7,), "exit code 7"),
    ],
)
def test_a_crash_fails_its_job_and_the_next_one_gets_a_new_process(pool, function, arguments, name):
    before = process_of(pool)
    with pytest.raises(ChildCrashedError, match=name):
        pool.run(function, *arguments)
    assert process_of(pool) not in (before, os.getpid())


def test_a_crash_keeps_what_the_process_said(pool):
    with pytest.raises(ChildCrashedError) as caught:
        pool.run(EVAL, "__import__('os').write(2, b'HDF5 says why') and __import__('os').abort()")
    assert "HDF5 says why" in caught.value.details


@pytest.mark.parametrize(
    "endless", ["(lambda f: f(f))(lambda f: [1 for _ in iter(int, 1)])", "pow(7, 10**9)"]
)
def test_an_endless_job_is_stopped(endless):
    """The second one never leaves native code, so no thread of the child can run."""
    with ChildPool(1, timeout=0.5) as pool:
        pool.run("math:sqrt", 4)
        with pytest.raises(ChildTimedOutError, match="longer than 0.5 s"):
            pool.run(EVAL, endless)
        assert pool.run("math:sqrt", 4).value == 2.0


@linux_only
def test_a_memory_hog_is_stopped():
    with ChildPool(1, memory_limit=200 * 2**20) as pool:
        assert pool.run(EVAL, "len(b'1' * 2**20)").value == 2**20
        with pytest.raises(ChildOutOfMemoryError, match="more than the limit of 200 MiB"):
            pool.run(EVAL, "[b'1' * 2**20 + bytes([i % 7]) for i in range(10**6)]")
        assert pool.run("math:sqrt", 4).value == 2.0


@linux_only
def test_resident_bytes_of_a_process_that_is_gone_are_none():
    assert resident_bytes(os.getpid()) > 2**20
    assert resident_bytes(2**22 + 5) == 0


def test_errors_of_the_job_come_back_as_they_are_and_leave_the_process(pool):
    before = process_of(pool)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        pool.run(EVAL, "1 / 0")
    with pytest.raises(ModuleNotFoundError):
        pool.run("no_such_module:f")
    assert process_of(pool) == before


def test_our_errors_keep_what_they_know(pool):
    job = (
        "(_ for _ in ()).throw(__import__('shadowzarr.errors').errors.TransientReadError('busy', status=503))"
    )
    with pytest.raises(TransientReadError, match="busy") as caught:
        pool.run(EVAL, job)
    assert (caught.value.status, caught.value.transient) == (503, True)


def test_an_error_that_cannot_be_pickled_is_told_in_words(pool):
    job = "(_ for _ in ()).throw(type('Odd', (Exception,), {'transient': True})('with text'))"
    with pytest.raises(ForeignJobError, match="Odd: with text") as caught:
        pool.run(EVAL, job)
    assert caught.value.transient is True


def test_jobs_of_many_threads_share_the_processes():
    with ChildPool(2) as pool:
        pool.start()
        results = []
        threads = [threading.Thread(target=lambda: results.append(pool.run("os:getpid"))) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(results) == 12
    assert {result.worker for result in results} <= {0, 1}
    assert len({result.value for result in results}) <= 2


def test_one_lost_process_does_not_fail_the_other_jobs():
    with ChildPool(2) as pool:
        outcome = {}

        def sleep() -> None:
            outcome["other"] = pool.run(EVAL, "__import__('time').sleep(1) or 'slept'").value

        thread = threading.Thread(target=sleep)
        thread.start()
        with pytest.raises(ChildCrashedError):
            pool.run("os:abort")
        thread.join()
    assert outcome == {"other": "slept"}


def test_closing_ends_running_jobs_and_refuses_new_ones():
    pool = ChildPool(1)
    child = process_of(pool)
    caught = []

    def run() -> None:
        try:
            pool.run("time:sleep", 60)
        except PoolClosedError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    pool.close()
    thread.join()
    assert len(caught) == 1
    assert not is_alive(child)
    with pytest.raises(PoolClosedError):
        pool.run("os:getpid")


def test_killing_waits_for_processes_and_not_for_those_who_use_them():
    with ChildPool(2) as pool:
        children = [process_of(pool), process_of(pool)]
        holder = pool._free.get()  # somebody is busy with a slot, and does not give it back
        pool.kill()
        assert not any(is_alive(child) for child in children)
        with pytest.raises(PoolClosedError):
            pool.run("os:getpid")
        pool._free.put(holder)


def test_a_process_that_cannot_start_says_why():
    with (
        ChildPool(1, preload=["no_such_module"]) as pool,
        pytest.raises(ChildStartError, match="no_such_module"),
    ):
        pool.run("os:getpid")


def test_a_pool_of_none_is_refused():
    with pytest.raises(UsageError, match="at least one"):
        ChildPool(0)


@pytest.mark.parametrize("job", ["__import__('time').sleep(60)", "pow(7, 10**9)"])
def test_children_end_with_a_killed_parent(job, tmp_path):
    """Also when they are in native code and would not look at anything."""
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(f"""
        import threading
        from shadowzarr.catalog.child_pool import ChildPool
        pool = ChildPool(1)
        print(pool.run("os:getpid").value, flush=True)
        threading.Thread(target=pool.run, args=("builtins:eval", {job!r})).start()
        """)
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        time.sleep(0.5)
        assert is_alive(child)
        os.kill(parent.pid, signal.SIGKILL)
    assert wait_for_end(child)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_for_end(process: int) -> bool:
    for _ in range(100):
        if not is_alive(process):
            return True
        time.sleep(0.05)
    return False


def test_a_pickled_pool_is_one_of_the_process_it_comes_to():
    with ChildPool(2, timeout=50, memory_limit=2**30, preload=["json"], environment={"SEED": "7"}) as pool:
        there = pickle.loads(pickle.dumps(pool))
        assert there is pickle.loads(pickle.dumps(pool))
        assert there is not pool
        result = there.run("os:getppid")
    assert result.value == os.getpid()
    assert result.worker > 1
    assert there.run("os:getenv", "SEED").value == "7"
    assert there.run("os:getenv", "PATH").value == os.environ["PATH"]
    there.close()


def test_crash_messages():
    assert crash_message(-11) == "the process reading it crashed (SIGSEGV)"
    assert "SIGKILL" in crash_message(-9)
    assert "want of memory" in crash_message(-9)
    assert "signal 63" in crash_message(-63)
    assert "exit code 3" in crash_message(3)
