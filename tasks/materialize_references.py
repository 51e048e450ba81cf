"""Task: the references of one asset, materialized: an ordinary Zarr store with their values."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.materialize_plan import MaterializeWork
from shadowzarr.catalog.materialize_run import Ended, MaterializeBench, materialize_asset

from .retrying import policy


@task(name="materialize", task_run_name="materialize-{work.label}", **policy())
def materialize_references(bench: MaterializeBench, work: MaterializeWork) -> Ended:
    """Materialize one asset in a child process, publish and record it."""
    return materialize_asset(bench, work)
