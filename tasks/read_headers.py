"""Task: the headers of one recording, read by NeuroConv's interfaces, and its metadata checked."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.stages import Done
from shadowzarr.conversion import stages
from shadowzarr.conversion.jobs import HeaderFacts

from .retrying import policy


@task(name="read-headers", task_run_name="read-headers-{work.asset.path}", **policy())
def read_headers(bench: stages.ConversionBench, work: AssetWork) -> Done[HeaderFacts]:
    """Read the headers of one recording in a child process."""
    return stages.read_headers(bench, work)
