"""Task: the staged references of one NWB file, judged by NWB's rules."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.stages import Done
from shadowzarr.conversion import stages

from .retrying import policy


@task(name="validate-nwb", task_run_name="validate-nwb-{work.asset.path}", **policy())
def validate_nwb(bench: stages.ConversionBench, work: AssetWork) -> Done[list[str]]:
    """Validate one NWB file in a child process."""
    return stages.validate_nwb(bench, work)
