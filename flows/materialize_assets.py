"""Flow: verified references of an output, each made into an ordinary Zarr store.

A table of contents: plan, materialize each asset as a task, write down what was done.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

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

from .crash_hook import tell_crashed
from .given_config import given_config
from .materialize_config import MaterializeAssetsConfig
from .materialize_text import failure_rows, markdown_materialized, materialized_end, materialized_things
from .task_runner import ended_in_pool, threads
from .watched_flow import WatchedFlow, watched_flow


@flow(name="materialize-assets", task_runner=threads(), persist_result=False, on_crashed=[tell_crashed])
def materialize_assets(config: MaterializeAssetsConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Materialize assets; the result of the completed state is a `MaterializeSummary`.

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
    with watched_flow(config) as watched:
        summary = _materialize_all(config, watched)
        return watched.ended(
            summary,
            materialized_end(summary, config.target),
            markdown=markdown_materialized(summary),
            failures=failure_rows(summary),
        )


def _materialize_all(config: MaterializeAssetsConfig, watched: WatchedFlow) -> MaterializeSummary:
    """Materialize what is planned, and write down what was done."""
    started, target = utc_now(), config.target
    config.origin.require()
    summary = MaterializeSummary(plan_materialize(config.origin, target, config.rules, config.options))
    assets = ended_in_pool(
        materialize_references,
        summary.plan.work,
        lambda pool: MaterializeBench(pool, config.archive.address, config.verify, config.max_memory),
        failed_asset,
        run=config.run,
        preload=PRELOAD,
    )
    with materialize_session(summary.plan, target):
        with watched.following(materialized_things(summary.plan)) as told, closing(assets) as all_ended:
            for ended in all_ended:
                summary.records.append(keep(ended))
                told(ended.record)
        write_summary(summary, target, started=started)
    return summary
