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
from prefect.states import Completed

from shadowzarr.catalog.clock import utc_now
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
from tasks.materialize_references import materialize_references

from .crash_hook import notifying, tell_crashed
from .given_config import given_config
from .materialize_config import MaterializeAssetsConfig
from .materialize_text import markdown_materialized, record_line
from .task_runner import ended_in_pool, threads


@flow(name="materialize-assets", task_runner=threads(), persist_result=False, on_crashed=[tell_crashed])
def materialize_assets(config: MaterializeAssetsConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Materialize assets; the result of the completed state is a `MaterializeSummary`.

    Failures are printed, a line for each, to the standard error stream.

    Parameters
    ----------
    config : MaterializeAssetsConfig or str
        What to do: a configuration, or its file (`flows.given_config`).
    changes : list of str
        Changes of the file's, as ``--set``.

    Raises
    ------
    ShadowzarrError
        When the run as a whole is impossible.
    """
    config = given_config(config, changes, MaterializeAssetsConfig)
    with notifying(config) as notifier:
        summary = _materialize_all(config)
    name = "CompletedWithFailures" if summary.failures else "Completed"
    message = f"{len(summary.failures)} of {len(summary.records)} assets failed"
    lines = [record_line(record) for record in summary.failures]
    notifier.tell(f"{message}.", exit_code=summary.exit_code, outcomes=summary.counts, failures=lines)
    return Completed(name=name, message=message, data=summary)


def _materialize_all(config: MaterializeAssetsConfig) -> MaterializeSummary:
    """Materialize what is planned, and write down what was done."""
    started, target = utc_now(), config.target
    config.origin.require()
    summary = MaterializeSummary(plan_materialize(config.origin, target, config.rules, config.options))
    assets = ended_in_pool(
        materialize_references,
        summary.plan.work,
        lambda pool: MaterializeBench(pool, config.address, config.verify, config.max_memory),
        failed_asset,
        run=config.run,
        preload=PRELOAD,
    )
    with materialize_session(summary.plan, target):
        with closing(assets) as all_ended:
            for ended in all_ended:
                summary.records.append(keep(ended))
                if ended.record.error is not None:
                    print(record_line(ended.record), file=sys.stderr, flush=True)
        write_summary(summary, target, started=started)
    create_markdown_artifact(markdown_materialized(summary), key="materialize-assets-summary")
    return summary
