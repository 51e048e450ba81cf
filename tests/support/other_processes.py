"""Work in processes of its own: killed at random moments, several at once, and readers that look on.

A `Nursery` is a process that has imported what the work needs and forks for each piece of it, so that a kill
costs no imports. A `Meanwhile` is a process that calls a function over and over. Functions are named
``module:function``; theirs are in `work_to_kill`.
"""

import json
import mmap
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
CHANGES = {"os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate"}
"""Audit events of what changes names, besides opening a file."""


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

    def run(
        self, *arguments: str, kill_after: float | None = None, kill_before: int | None = None
    ) -> tuple[int, float, int]:
        """Work, and perhaps be killed; gives exit code, seconds and steps.

        A step is what changes names or opens a file for writing, by the process of the work itself. They are
        counted when ``kill_before`` is given.

        Parameters
        ----------
        kill_after : float, optional
            Seconds after the work has said that it begins.
        kill_before : int, optional
            The step, from 1 on, before which it is killed; 0 for none.
        """
        self._process.stdin.write(json.dumps([kill_after, kill_before, arguments]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the nursery has ended; what it said stands above"
        code, seconds, steps = json.loads(answer)
        assert code in (0, KILLED), f"the work ended with {code} instead of being killed; see above"
        return code, seconds, steps

    def kills(self, how: str, count: int, *arguments: str) -> list[dict[str, float]]:
        """How to be killed so many times, after the work was done once without.

        Parameters
        ----------
        how : str
            ``"moments"`` for random ones, ``"steps"`` for those of `run`.
        count : int
            How often, at most.
        """
        code, seconds, steps = self.run(*arguments, kill_before=0)
        assert code == 0
        if how == "moments":
            return [{"kill_after": part * seconds} for part in moments(count, arguments[-1])]
        print(f"{steps} steps")
        return [{"kill_before": step} for step in _some_steps(steps, count)]


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


def _some_steps(steps: int, at_most: int) -> list[int]:
    """Which steps to be killed before: those at both ends, and as many between, evenly."""
    ends = at_most // 3
    if steps <= at_most:
        return list(range(1, steps + 1))
    middle = range(ends + 1, steps - ends + 1)
    return [*range(1, ends + 1), *middle[:: -(-len(middle) // ends)], *range(steps - ends + 1, steps + 1)]


def find(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _nursery(name: str) -> None:
    work = find(name)
    steps = mmap.mmap(-1, 8)  # shared with the child
    for line in sys.stdin:
        kill_after, kill_before, arguments = json.loads(line)
        began, begin = os.pipe()
        steps[:] = bytes(8)
        child = os.fork()
        if child == 0:
            if kill_before is not None:
                count_steps(steps, kill_before)
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
        code, seconds = os.waitstatus_to_exitcode(status), time.perf_counter() - start
        print(json.dumps([code, seconds, int.from_bytes(steps[:])]), flush=True)


def count_steps(steps: mmap.mmap, last: int) -> None:
    """Count changes of names and files opened for writing, and be killed before the last one."""

    def step(event: str, arguments: tuple[Any, ...]) -> None:
        if event in CHANGES or (event == "open" and _is_writing(arguments)):
            count = int.from_bytes(steps[:]) + 1
            steps[:] = count.to_bytes(8)
            if count == last:
                os.killpg(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)


def _is_writing(arguments: tuple[Any, ...]) -> bool:
    path, _, flags = arguments
    return path != os.devnull and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


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
    look, counts, took, is_last = find(name), {"looks": 0}, 0.0, False
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
    work = find(name)

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
