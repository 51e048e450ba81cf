"""Task: verified references of one asset, given their final name, and the record that says so.

Publishing and recording are a rename and a small file; a task run of its own for each would cost more
than both.
"""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog import stages
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import IndexRecord

from .retrying import policy


@task(name="publish", task_run_name="publish-{work.label}", **policy())
def publish_references(
    workshop: stages.Workshop, work: AssetWork, results: stages.AssetResults
) -> IndexRecord:
    """Rename one asset's references to their place and write its record last."""
    return stages.publish_and_record(workshop, work, results)
