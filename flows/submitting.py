"""Where tasks that read files are run: in threads of the flow run, or by workers of Dask or Ray.

Workers elsewhere read and write to staging. Publishing, recording and everything about the output is done by
the flow run, which holds its lock. How many files are read at once is bounded here, whatever the size of a
cluster, so that limits hold in total.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from prefect import Task
from prefect.futures import PrefectFuture
from prefect.utilities.callables import get_call_parameters

from shadowzarr._optional import require, require_installed

from .run_section import RunSection

ROOT = Path(__file__).resolve().parents[1]

Ended = Callable[[PrefectFuture[Any]], None]
Submit = Callable[[Task[..., Any], tuple[Any, ...], Ended], None]
"""Runs a task with its arguments; calls back, from any thread, when it has ended."""

MODULES = {"dask": ("prefect_dask", "distributed"), "ray": ("prefect_ray", "ray")}


def check_runner(run: RunSection) -> None:
    """See that what runs tasks is installed.

    Raises
    ------
    MissingDependencyError
        When it is not.
    """
    require_installed(*MODULES.get(run.task_runner, ()), extra=run.task_runner)


@contextlib.contextmanager
def open_runner(run: RunSection, *, at_once: int) -> Iterator[Submit]:
    """Give what runs the tasks that read files, until all have ended.

    Parameters
    ----------
    run : RunSection
    at_once : int
        Tasks that are run at once elsewhere; threads take them all, and wait for a process.

    Raises
    ------
    MissingDependencyError
        When what a configuration asks for is not installed.
    """
    if not run.is_elsewhere:
        yield submit_here
        return
    check_runner(run)
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # what workers of this machine import from
    with _RUNNERS[run.task_runner](run.cluster, at_once) as runner:

        def submit(task: Task[..., Any], arguments: tuple[Any, ...], ended: Ended) -> None:
            runner.submit(task, get_call_parameters(task.fn, arguments, {})).add_done_callback(ended)

        yield Bounded(submit, at_once)


def submit_here(task: Task[..., Any], arguments: tuple[Any, ...], ended: Ended) -> None:
    """Run a task by the task runner of the flow run."""
    task.submit(*arguments).add_done_callback(ended)


class Bounded:
    """Hands on so many tasks at once, in the order in which they come.

    Parameters
    ----------
    submit : callable
        Runs a task.
    at_once : int
        How many may be under way.
    """

    def __init__(self, submit: Submit, at_once: int) -> None:
        self._submit = submit
        self._free = at_once
        self._waiting: deque[tuple[Task[..., Any], tuple[Any, ...], Ended]] = deque()
        self._lock = threading.Lock()

    def __call__(self, task: Task[..., Any], arguments: tuple[Any, ...], ended: Ended) -> None:
        """Run a task, perhaps later; see `Submit`."""
        with self._lock:
            if not self._free:
                self._waiting.append((task, arguments, ended))
                return
            self._free -= 1
        self._start(task, arguments, ended)

    def _start(self, task: Task[..., Any], arguments: tuple[Any, ...], ended: Ended) -> None:
        def tell(future: PrefectFuture[Any]) -> None:
            self._start_next()
            ended(future)

        self._submit(task, arguments, tell)

    def _start_next(self) -> None:
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            following = self._waiting.popleft()
        self._start(*following)


def _dask(cluster: str | None, at_once: int) -> Any:
    runner = require("prefect_dask", extra="dask").DaskTaskRunner
    if cluster is not None:
        return runner(address=cluster)
    # One thread each: the file is read in a process of the worker's, under its limits of time and memory.
    options = {
        "n_workers": at_once,
        "threads_per_worker": 1,
        "dashboard_address": ":0",  # any port: another cluster of this machine may have the usual one
        "scheduler_kwargs": {"dashboard": False},
        "memory_limit": 0,
    }
    return runner(cluster_kwargs=options)


def _ray(cluster: str | None, at_once: int) -> Any:
    runner = require("prefect_ray", extra="ray").RayTaskRunner
    if cluster is not None:
        return runner(address=cluster)
    return runner(init_kwargs={"num_cpus": at_once, "include_dashboard": False})


_RUNNERS: dict[str, Callable[[str | None, int], Any]] = {"dask": _dask, "ray": _ray}
