"""Things of a run as Prefect tasks, for `shadowzarr.catalog.in_flight`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prefect import Task
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner

from shadowzarr.errors import ShadowzarrError
from tasks.retrying import policy

THREADS = 300
"""More than the largest window; the window bounds what runs, and threads start when needed."""


def threads() -> Any:
    """What runs the tasks of a flow."""
    return ThreadPoolTaskRunner(max_workers=THREADS)


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
    """

    def __init__(
        self, task: Task[..., R], bench: Any, failed: Callable[[T, BaseException], R], *, retries: int
    ) -> None:
        self._task = task.with_options(**policy(retries))
        self._bench = bench
        self._failed = failed

    def submit(self, item: T, ended: Callable[[R], None]) -> None:
        """Run a thing as a task."""
        future: PrefectFuture[R] = self._task.submit(self._bench, item)
        future.add_done_callback(lambda done: ended(self._outcome(item, done)))

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
