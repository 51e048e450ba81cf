"""Flow: verified references of an output, each made into an ordinary Zarr store.

A table of contents: plan, materialize each asset as a task, write down what was done.
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
from shadowzarr.catalog.materialize_job import PRELOAD
from shadowzarr.catalog.materialize_plan import plan_materialize
from shadowzarr.catalog.materialize_record import MaterializeSummary
from shadowzarr.catalog.materialize_run import (
    MaterializeBench,
    failed_asset,
    keep,
    materialize_session,
    write_summary,
)
from shadowzarr.catalog.request import SPARE_ASSETS
from tasks.materialize_references import materialize_references

from .crash_hook import RUNNING, tell_crashed
from .materialize_config import MaterializeAssetsConfig
from .materialize_text import markdown_materialized, record_line
from .notify import Notifier
from .task_runner import TaskRunner, threads


@flow(name="materialize-assets", task_runner=threads(), persist_result=False, on_crashed=[tell_crashed])
def materialize_assets(config: MaterializeAssetsConfig) -> State[Any]:
    """Materialize assets; the result of the completed state is a `MaterializeSummary`.

    Failures are printed, a line for each, to the standard error stream.

    Raises
    ------
    ShadowzarrError
        When the run as a whole is impossible.
    """
    notifier = Notifier(config.notify, flow=config.flow, configuration=config.source)
    RUNNING[flow_run.id] = notifier
    with notifier.watching():
        summary = _materialize_all(config)
    name = "CompletedWithFailures" if summary.failures else "Completed"
    message = f"{len(summary.failures)} of {len(summary.records)} assets failed"
    lines = [record_line(record) for record in summary.failures]
    notifier.tell(f"{message}.", exit_code=summary.exit_code, outcomes=summary.counts, failures=lines)
    return Completed(name=name, message=message, data=summary)


def _materialize_all(config: MaterializeAssetsConfig) -> MaterializeSummary:
    """Materialize what is planned, and write down what was done."""
    started, target = utc_now(), config.target
    summary = MaterializeSummary(plan_materialize(config.origin, target, config.rules, config.options))
    with (
        materialize_session(summary.plan, target),
        ChildPool(
            config.run.concurrency,
            timeout=config.run.timeout,
            memory_limit=config.run.memory_limit,
            preload=PRELOAD,
        ) as pool,
    ):
        bench = MaterializeBench(pool, config.address, config.verify, config.max_memory)
        runner = TaskRunner(materialize_references, bench, failed_asset, retries=config.run.retries)
        window = config.run.concurrency + SPARE_ASSETS
        with closing(run_in_window(summary.plan.work, runner, window=window)) as all_ended:
            for ended in all_ended:
                summary.records.append(keep(ended))
                if ended.record.error is not None:
                    print(record_line(ended.record), file=sys.stderr, flush=True)
        write_summary(summary, target, started=started)
    create_markdown_artifact(markdown_materialized(summary), key="materialize-assets-summary")
    return summary
