"""Task: the staged references of one NWB file, compared with what NeuroConv's readers give."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import VerificationSummary
from shadowzarr.catalog.stages import Done
from shadowzarr.conversion import stages

from .retrying import policy


@task(name="verify-nwb", task_run_name="verify-nwb-{work.asset.path}", **policy())
def verify_nwb(bench: stages.ConversionBench, work: AssetWork) -> Done[VerificationSummary]:
    """Verify one NWB file in a child process."""
    return stages.verify_nwb(bench, work)
