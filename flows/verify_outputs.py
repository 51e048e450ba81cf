"""Flow: references chosen from all that were ever published, compared anew with the archive.

A table of contents: choose, check each as a task, write down what was found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.runtime import flow_run
from prefect.states import Completed
from prefect.task_runners import ThreadPoolTaskRunner

from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.clock import utc_now
from shadowzarr.catalog.jobs import PRELOAD
from shadowzarr.catalog.output_checks import (
    CheckBench,
    ChecksSummary,
    OutputCheck,
    PublishedOutput,
    check_outputs,
    choose,
    failed_check,
    list_outputs,
    write_checks,
)
from shadowzarr.catalog.request import SPARE_ASSETS
from shadowzarr.errors import ShadowzarrError
from tasks.check_output import check_output
from tasks.retrying import policy

from .checks_text import check_line, markdown_checks
from .crash_hook import RUNNING, tell_crashed
from .notify import Notifier
from .verify_config import VerifyOutputsConfig

THREADS = 300
"""More than the largest window; the window bounds what runs, and threads start when needed."""

RUNNER: Any = ThreadPoolTaskRunner(max_workers=THREADS)


@flow(name="verify-outputs", task_runner=RUNNER, persist_result=False, on_crashed=[tell_crashed])
def verify_outputs(config: VerifyOutputsConfig) -> State[Any]:
    """Check outputs; the result of the completed state is a `ChecksSummary`.

    What is not as it should be is printed, a line for each, to the standard error stream.

    Raises
    ------
    ShadowzarrError
        When the run as a whole is impossible.
    """
    notifier = Notifier(config.notify, flow=config.flow, configuration=config.source)
    RUNNING[flow_run.id] = notifier
    with notifier.watching():
        summary = _check_all(config)
    wrong = len(summary.checks) - summary.counts.get("equal", 0)
    name = "CompletedWithFailures" if wrong else "Completed"
    message = f"{wrong} of {len(summary.checks)} outputs are not as they should be"
    notifier.tell(f"{message}.", exit_code=summary.exit_code, outcomes=summary.counts)
    return Completed(name=name, message=message, data=summary)


def _check_all(config: VerifyOutputsConfig) -> ChecksSummary:
    """Check the chosen outputs and write down what was found."""
    started, seed = utc_now(), config.sample.chosen_seed
    outputs = list_outputs(config.layouts)
    summary = ChecksSummary(len(outputs), seed)
    chosen = choose(outputs, count=config.sample.count, seed=seed)
    with (
        ChildPool(
            config.run.concurrency,
            timeout=config.run.timeout,
            memory_limit=config.run.memory_limit,
            preload=PRELOAD,
        ) as pool,
        closing(
            check_outputs(
                chosen,
                TaskChecks(
                    CheckBench(pool, config.address, config.verification(seed)), retries=config.run.retries
                ),
                window=config.run.concurrency + SPARE_ASSETS,
            )
        ) as ended,
    ):
        for check in ended:
            summary.checks.append(check)
            if check.verdict != "equal":
                print(check_line(check), file=sys.stderr, flush=True)
    for layout, is_private in config.layouts:
        if layout.store.is_there():
            write_checks(summary, layout, private=is_private, started=started)
    create_markdown_artifact(markdown_checks(summary), key="verify-outputs-summary")
    return summary


class TaskChecks:
    """Submits checks as task runs; see `shadowzarr.catalog.output_checks.CheckRunner`."""

    def __init__(self, bench: CheckBench, *, retries: int) -> None:
        self._bench = bench
        self._task = check_output.with_options(**policy(retries))

    def submit(self, output: PublishedOutput, ended: Callable[[OutputCheck], None]) -> None:
        """Run a check as a task."""
        future = self._task.submit(self._bench, output)
        future.add_done_callback(lambda done: ended(_check_of(output, done)))


def _check_of(output: PublishedOutput, future: PrefectFuture[OutputCheck]) -> OutputCheck:
    """Read a future that is done; never raises, because nobody would hear it."""
    try:
        value = future.result(raise_on_failure=False)
    except BaseException as error:  # noqa: BLE001 (a cancelled or crashed task run belongs to its output)
        return failed_check(output, error)
    if isinstance(value, BaseException):
        return failed_check(output, value)
    return value or failed_check(output, ShadowzarrError("the task run ended without a result"))
