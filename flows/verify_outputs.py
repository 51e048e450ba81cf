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
from prefect.states import Completed

from shadowzarr.catalog.clock import utc_now
from shadowzarr.catalog.jobs import PRELOAD
from shadowzarr.catalog.output_checks import (
    CheckBench,
    ChecksSummary,
    choose,
    failed_check,
    list_outputs,
    write_checks,
)
from tasks.check_output import check_output

from .checks_text import check_line, markdown_checks
from .crash_hook import notifying, tell_crashed
from .given_config import given_config
from .task_runner import ended_in_pool, threads
from .verify_config import VerifyOutputsConfig


@flow(name="verify-outputs", task_runner=threads(), persist_result=False, on_crashed=[tell_crashed])
def verify_outputs(config: VerifyOutputsConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Check outputs; the result of the completed state is a `ChecksSummary`.

    What is not as it should be is printed, a line for each, to the standard error stream.

    Parameters
    ----------
    config : VerifyOutputsConfig or str
        What to do: a configuration, or its file (`flows.given_config`).
    changes : list of str
        Changes of the file's, as ``--set``.

    Raises
    ------
    ShadowzarrError
        When the run as a whole is impossible.
    """
    config = given_config(config, changes, VerifyOutputsConfig)
    with notifying(config) as notifier:
        summary = _check_all(config)
    wrong = len(summary.checks) - summary.counts.get("equal", 0)
    name = "CompletedWithFailures" if wrong else "Completed"
    message = f"{wrong} of {len(summary.checks)} outputs are not as they should be"
    notifier.tell(f"{message}.", exit_code=summary.exit_code, outcomes=summary.counts)
    return Completed(name=name, message=message, data=summary)


def _check_all(config: VerifyOutputsConfig) -> ChecksSummary:
    """Check the chosen outputs and write down what was found."""
    started, seed = utc_now(), config.sample.chosen_seed
    config.layouts[0][0].require()
    outputs = list_outputs(config.layouts)
    summary = ChecksSummary(len(outputs), seed)
    chosen = choose(outputs, count=config.sample.count, seed=seed)
    checks = ended_in_pool(
        check_output,
        chosen,
        lambda pool: CheckBench(pool, config.address, config.verification(seed)),
        failed_check,
        run=config.run,
        preload=PRELOAD,
    )
    with closing(checks) as ended:
        for check in ended:
            summary.checks.append(check)
            if check.verdict != "equal":
                print(check_line(check), file=sys.stderr, flush=True)
    for layout, is_private in config.layouts:
        if layout.store.is_there():
            write_checks(summary, layout, private=is_private, started=started)
    create_markdown_artifact(markdown_checks(summary), key="verify-outputs-summary")
    return summary
