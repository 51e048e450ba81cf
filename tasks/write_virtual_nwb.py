"""Task: one recording, built as an NWB file by NeuroConv and written as references to staging.

An NWB file in memory is not handed from task to task, so that building and writing are one.
"""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.stages import Done
from shadowzarr.conversion import stages
from shadowzarr.conversion.jobs import WrittenFacts

from .retrying import policy


@task(name="write-virtual-nwb", task_run_name="write-virtual-nwb-{work.asset.path}", **policy())
def write_virtual_nwb(bench: stages.ConversionBench, work: AssetWork) -> Done[WrittenFacts]:
    """Build and write one virtual NWB file in a child process."""
    return stages.write_virtual_nwb(bench, work)
