"""Stages of assets run as Prefect tasks, for `shadowzarr.catalog.asset_window`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from prefect import Task
from prefect.futures import PrefectFuture

from shadowzarr.catalog.asset_window import StageEnd
from shadowzarr.catalog.stages import Done
from shadowzarr.errors import ShadowzarrError
from tasks.index_asset import index_asset
from tasks.publish_references import publish_references
from tasks.record_failure import record_failure
from tasks.retrying import policy
from tasks.verify_asset import verify_asset

from .submitting import Submit, submit_here

TASKS: dict[str, Task[..., Any]] = {
    "index": index_asset,
    "verify": verify_asset,
    "publish_and_record": publish_references,
    "record_failure": record_failure,
}
"""The task of each function of `shadowzarr.catalog.stages`."""

READING = ("index", "verify")
"""Stages that read files, and write to staging alone."""


class TaskStages:
    """Submits stages as task runs of the flow run it is used in.

    Parameters
    ----------
    bench
        What all stages share, and the first argument of each task.
    retries : int
        How often an error that may pass is tried again.
    submit : callable, optional
        Runs the stages that read files; by default the flow run does, as it always runs the others.
    tasks : mapping of str to prefect.Task, optional
        By the names of the stages.
    """

    def __init__(
        self,
        bench: Any,
        *,
        retries: int,
        submit: Submit = submit_here,
        tasks: Mapping[str, Task[..., Any]] = MappingProxyType(TASKS),
    ) -> None:
        self._bench = bench
        self._tasks = {name: task.with_options(**policy(retries)) for name, task in tasks.items()}
        self._submit = submit
        self._workers: dict[int, int] = {}

    def submit(self, stage: str, arguments: tuple[Any, ...], ended: Callable[[StageEnd], None]) -> None:
        """Run a stage; see `shadowzarr.catalog.asset_window.StageRunner`."""
        submit = self._submit if stage in READING else submit_here
        submit(
            self._tasks[stage],
            (self._bench, *arguments),
            lambda done: ended(self._numbered(_end_of(done))),
        )

    def _numbered(self, end: StageEnd) -> StageEnd:
        """Give the processes of all machines small numbers, in the order in which they are heard of."""
        done = end.value
        if self._submit is submit_here or not isinstance(done, Done) or done.time.worker is None:
            return end
        worker = self._workers.setdefault(done.time.worker, len(self._workers))
        return StageEnd(replace(done, time=replace(done.time, worker=worker)))


def _end_of(future: PrefectFuture[Any]) -> StageEnd:
    """Read a future that is done; never raises, because nobody would hear it."""
    try:
        value = future.result(raise_on_failure=False)
    except BaseException as error:  # noqa: BLE001 (a cancelled or crashed task run belongs to its asset)
        return StageEnd(error=error)
    if isinstance(value, BaseException):
        return StageEnd(error=value)
    if value is None:
        return StageEnd(error=ShadowzarrError("the task run ended without a result"))
    return StageEnd(value)
