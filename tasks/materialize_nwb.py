"""Task: the staged references of one NWB file, made into an ordinary one."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.stages import Done
from shadowzarr.conversion import stages
from shadowzarr.conversion.jobs import StoreFacts

from .retrying import policy


@task(name="materialize-nwb", task_run_name="materialize-nwb-{work.asset.path}", **policy())
def materialize_nwb(bench: stages.ConversionBench, work: AssetWork) -> Done[StoreFacts]:
    """Write one ordinary NWB file in a child process."""
    return stages.write_store(bench, work)
