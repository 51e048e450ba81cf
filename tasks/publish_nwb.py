"""Task: one verified NWB file pointed at where its recording is hosted, given its name, and recorded."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.conversion import stages

from .retrying import policy


@task(name="publish-nwb", task_run_name="publish-{work.asset.path}", **policy())
def publish_nwb(
    bench: stages.ConversionBench, work: AssetWork, results: stages.ConversionResults
) -> IndexRecord:
    """Publish one NWB file and write its record last."""
    return stages.publish_nwb(bench, work, results)
