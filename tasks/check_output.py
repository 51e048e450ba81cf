"""Task: references that lie in an output, compared anew with what the archive has."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.output_checks import CheckBench, OutputCheck, PublishedOutput
from shadowzarr.catalog.output_checks import check_output as check

from .retrying import policy


@task(name="check", task_run_name="check-{output.label}", **policy())
def check_output(bench: CheckBench, output: PublishedOutput) -> OutputCheck:
    """Check one output in a child process."""
    return check(bench, output)
