"""Flow: references chosen from all that were ever published, compared anew with the archive.

A table of contents: choose, check each as a task, write down what was found.
"""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed

from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.clock import utc_now
from shadowzarr.catalog.in_flight import run_in_window
from shadowzarr.catalog.jobs import PRELOAD
from shadowzarr.catalog.output_checks import (
    CheckBench,
    ChecksSummary,
    choose,
    failed_check,
    list_outputs,
    write_checks,
)
from shadowzarr.catalog.request import SPARE_ASSETS
from tasks.check_output import check_output

from .checks_text import check_line, markdown_checks
from .crash_hook import RUNNING, tell_crashed
from .notify import Notifier
from .task_runner import TaskRunner, threads
from .verify_config import VerifyOutputsConfig


@flow(name="verify-outputs", task_runner=threads(), persist_result=False, on_crashed=[tell_crashed])
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
            run_in_window(
                chosen,
                TaskRunner(
                    check_output,
                    CheckBench(pool, config.address, config.verification(seed)),
                    failed_check,
                    retries=config.run.retries,
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
