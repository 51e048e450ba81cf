"""Flow: references chosen from all that were ever published, compared anew with the archive.

A table of contents: choose, check each as a task, write down what was found.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

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

from .checks_text import check_rows, check_things, checks_end, markdown_checks
from .crash_hook import tell_crashed
from .given_config import given_config
from .task_runner import ended_in_pool, threads
from .verify_config import VerifyOutputsConfig
from .watched_flow import WatchedFlow, watched_flow


@flow(name="verify-outputs", task_runner=threads(), persist_result=False, on_crashed=[tell_crashed])
def verify_outputs(config: VerifyOutputsConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Check outputs; the result of the completed state is a `ChecksSummary`.

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
    with watched_flow(config) as watched:
        summary = _check_all(config, watched)
        return watched.ended(
            summary,
            checks_end(summary, config.layouts[0][0]),
            markdown=markdown_checks(summary),
            failures=check_rows(summary),
        )


def _check_all(config: VerifyOutputsConfig, watched: WatchedFlow) -> ChecksSummary:
    """Check the chosen outputs and write down what was found."""
    started, seed = utc_now(), config.sample.chosen_seed
    config.layouts[0][0].require()
    outputs = list_outputs(config.layouts)
    summary = ChecksSummary(len(outputs), seed)
    chosen = choose(outputs, count=config.sample.count, seed=seed)
    checks = ended_in_pool(
        check_output,
        chosen,
        lambda pool: CheckBench(pool, config.archive.address, config.verification(seed)),
        failed_check,
        run=config.run,
        preload=PRELOAD,
    )
    with watched.following(check_things(len(chosen))) as told, closing(checks) as ended:
        for check in ended:
            summary.checks.append(check)
            told(check)
    for layout, is_private in config.layouts:
        if layout.store.is_there():
            write_checks(summary, layout, private=is_private, started=started)
    return summary
