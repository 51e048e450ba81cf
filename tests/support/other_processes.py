"""Work in processes of its own: killed at random moments, several at once, and readers that look on.

A `Nursery` is a process that has imported what the work needs and forks for each piece of it, so that a kill
costs no imports. A `Meanwhile` is a process that calls a function over and over. Functions are named
``module:function``; theirs are in `work_to_kill`.
"""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SUPPORT = Path(__file__).parent
KILLED = -signal.SIGKILL


def moments(count: int, name: str) -> list[float]:
    """Parts, from 0 to 1, of the time that work takes; other ones in every run, which `KILL_SEED` repeats."""
    seed = os.environ.get("KILL_SEED") or str(random.SystemRandom().randrange(10**6))
    print(f"KILL_SEED={seed}")  # shown when the test fails
    numbers = random.Random(f"{seed} {name}")
    return [numbers.random() for _ in range(count)]


class Nursery:
    """A process that forks for each piece of work.

    Parameters
    ----------
    function : str
        The work, ``module:function``. It is called with a function that it calls when it really begins, and
        then with the arguments of `run`.
    before : sequence of str, optional
        Program and arguments that start the process, such as ``setpriv``.
    """

    def __init__(self, function: str, *, before: Sequence[str] = ()) -> None:
        self._process = _start("nursery", function, before=before, stdin=subprocess.PIPE)

    def __enter__(self) -> "Nursery":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()

    def run(self, *arguments: str, kill_after: float | None = None) -> tuple[int, float]:
        """Work, and perhaps be killed so many seconds after the beginning; gives exit code and seconds."""
        self._process.stdin.write(json.dumps([kill_after, arguments]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the nursery has ended; what it said stands above"
        code, seconds = json.loads(answer)
        assert code in (0, KILLED), f"the work ended with {code} instead of being killed; see above"
        return code, seconds


class Meanwhile:
    """A process that calls a function over and over and adds up what it counts.

    Parameters
    ----------
    function : str
        ``module:function``; gives a dict of counts, and raises when something is wrong.
    *arguments : str
        Its arguments.

    Attributes
    ----------
    counts : dict
        What was counted, after the end.
    """

    def __init__(self, function: str, *arguments: str) -> None:
        self._process = _start("meanwhile", function, *arguments, stdin=subprocess.PIPE)
        self.counts: dict[str, int] = {}

    def __enter__(self) -> "Meanwhile":
        assert self._process.stdout.readline() == "looks\n"
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        said, _ = self._process.communicate(timeout=120)  # which closes its standard input: it ends
        if kind is None:
            assert self._process.returncode == 0, said
            self.counts = json.loads(said)


def all_at_once(function: str, *calls: tuple[str, ...], timeout: float = 240) -> None:
    """Call a function in several processes that begin at once; each must return in time.

    It gets a function that it calls when it is ready, which comes back when all are.
    """
    running = [_start("at-once", function, *arguments, stdin=subprocess.PIPE) for arguments in calls]
    try:
        for process in running:
            assert process.stdout.readline() == "ready\n"
        for process in running:
            process.stdin.write("go\n")
            process.stdin.flush()
        until = time.monotonic() + timeout
        codes = [process.wait(timeout=max(until - time.monotonic(), 0.1)) for process in running]
        assert codes == [0] * len(calls)
    finally:
        for process in running:
            process.kill()
            process.communicate()


def _start(role: str, *arguments: str, before: Sequence[str] = (), **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SUPPORT), str(SUPPORT.parents[1])])}
    command = [*before, sys.executable, str(Path(__file__)), role, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, **options)


def _find(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _nursery(name: str) -> None:
    work = _find(name)
    for line in sys.stdin:
        kill_after, arguments = json.loads(line)
        began, begin = os.pipe()
        child = os.fork()
        if child == 0:
            _work(work, arguments, begin)
        os.close(begin)
        os.read(began, 1)  # or the end of the child
        os.close(began)
        start = time.perf_counter()
        ended = os.pidfd_open(child)
        if kill_after is not None and not select.select([ended], [], [], kill_after)[0]:
            os.killpg(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(ended)
        print(json.dumps([os.waitstatus_to_exitcode(status), time.perf_counter() - start]), flush=True)


def _work(work: Any, arguments: list[str], begin: int) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)  # answers alone go to standard output
        work(lambda: os.write(begin, b"."), *arguments)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _meanwhile(name: str, *arguments: str) -> None:
    look, counts, took, is_last = _find(name), {"looks": 0}, 0.0, False
    print("looks", flush=True)
    while not is_last:  # once more when the others have ended
        is_last = bool(select.select([sys.stdin], [], [], max(took, 0.005))[0])
        start = time.perf_counter()
        for what, count in look(*arguments).items():
            counts[what] = counts.get(what, 0) + count
        counts["looks"] += 1
        took = time.perf_counter() - start  # so long it waits: the work needs a processor too
    print(json.dumps(counts), flush=True)


def _at_once(name: str, *arguments: str) -> None:
    work = _find(name)

    def begin() -> None:
        print("ready", flush=True)
        sys.stdin.readline()

    work(begin, *arguments)


def skip_without_fork() -> pytest.MarkDecorator:
    """Marks tests that need a system that forks and tells of ends by descriptors."""
    return pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system has no pidfd_open")


if __name__ == "__main__":
    roles = {"nursery": _nursery, "meanwhile": _meanwhile, "at-once": _at_once}
    roles[sys.argv[1]](*sys.argv[2:])
