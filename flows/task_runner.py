"""Things of a run as Prefect tasks, for `shadowzarr.catalog.in_flight`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import Any

from prefect import Task
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.utilities.annotations import quote

from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.in_flight import run_in_window
from shadowzarr.catalog.request import SPARE_ASSETS
from shadowzarr.errors import ShadowzarrError
from tasks.retrying import policy

from .run_section import RunSection
from .submitting import Submit, open_runner, submit_here

THREADS = 300
"""More than the largest window; the window bounds what runs, and threads start when needed."""


def threads() -> Any:
    """What runs the tasks of a flow."""
    return ThreadPoolTaskRunner(max_workers=THREADS)


def opaque(value: Any) -> Any:
    """Hand a value to a task as it is; Prefect would look into every item of it for futures."""
    return quote(value)


class TaskRunner[T, R]:
    """Submits a task run for each thing; see `shadowzarr.catalog.in_flight.Runner`.

    Parameters
    ----------
    task : prefect.Task
        Takes the bench and the thing, and gives the outcome.
    bench
        What all of them share.
    failed : callable
        Gives the outcome of an error; never raises.
    retries : int
        How often an error that may pass is tried again.
    submit : callable, optional
        Runs a task; by default the flow run does.
    """

    def __init__(
        self,
        task: Task[..., R],
        bench: Any,
        failed: Callable[[T, BaseException], R],
        *,
        retries: int,
        submit: Submit = submit_here,
    ) -> None:
        self._submit = submit
        self._task = task.with_options(**policy(retries))
        self._bench = bench
        self._failed = failed

    def submit(self, item: T, ended: Callable[[R], None]) -> None:
        """Run a thing as a task."""
        self._submit(self._task, (self._bench, item), lambda done: ended(self._outcome(item, done)))

    def _outcome(self, item: T, future: PrefectFuture[R]) -> R:
        """Read a future that is done; never raises, because nobody would hear it."""
        try:
            value = future.result(raise_on_failure=False)
        except BaseException as error:  # noqa: BLE001 (a cancelled or crashed task run belongs to its thing)
            return self._failed(item, error)
        if isinstance(value, BaseException):
            return self._failed(item, value)
        if value is None:
            return self._failed(item, ShadowzarrError("the task run ended without a result"))
        return value


def ended_in_pool[T, R](
    task: Task[..., R],
    items: Iterable[T],
    bench: Callable[[ChildPool], Any],
    failed: Callable[[T, BaseException], R],
    *,
    run: RunSection,
    preload: Sequence[str],
) -> Generator[R]:
    """Run a task for each thing, a bounded number at a time, over child processes; give what came of each.

    Parameters
    ----------
    task, failed
        As for `TaskRunner`.
    items : iterable
        The things.
    bench : callable
        Makes of the processes what the tasks share.
    run : RunSection
        How much of the machine they may use.
    preload : sequence of str
        Modules that the processes import before they work.
    """
    pool = ChildPool(
        run.concurrency, timeout=run.timeout, memory_limit=run.memory_limit, preload=tuple(preload)
    )
    with pool, open_runner(run, at_once=run.concurrency) as submit:
        runner = TaskRunner(task, bench(pool), failed, retries=run.retries, submit=submit)
        with closing(run_in_window(items, runner, window=run.concurrency + SPARE_ASSETS)) as ended:
            yield from ended
