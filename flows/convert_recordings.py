"""Flow: recordings that NeuroConv reads, each written as a virtual NWB file.

A table of contents: plan, then per recording headers → write → validate → verify → materialize → publish and
record, each a task.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any

from prefect import Task, flow
from prefect.client.schemas.objects import State

from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_words import words_of
from shadowzarr.conversion.plan import plan_recordings
from shadowzarr.conversion.run import conversion_pool, open_bench, run_recordings, stores_session
from tasks.materialize_nwb import materialize_nwb
from tasks.publish_nwb import publish_nwb
from tasks.read_headers import read_headers
from tasks.record_failed_recording import record_failed_recording
from tasks.validate_nwb import validate_nwb
from tasks.verify_nwb import verify_nwb
from tasks.write_virtual_nwb import write_virtual_nwb

from .artifacts import create_artifacts
from .begun_run import BegunRun, join_run
from .convert_config import ConvertRecordingsConfig
from .crash_hook import tell_crashed
from .finish_run import finish_run
from .given_config import given_config
from .index_dandisets import final_state, gather
from .show_progress import open_progress
from .task_runner import threads
from .task_stages import TaskStages
from .watched_flow import watching

TASKS: dict[str, Task[..., Any]] = {
    "headers": read_headers,
    "write": write_virtual_nwb,
    "validate": validate_nwb,
    "verify": verify_nwb,
    "store": materialize_nwb,
    "publish": publish_nwb,
    "record": record_failed_recording,
}
"""The task of each stage of `shadowzarr.conversion.stages`."""


@flow(name="convert-recordings", task_runner=threads(), persist_result=False, on_crashed=[tell_crashed])
def convert_recordings(config: ConvertRecordingsConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Convert recordings; the result of the completed state is a `RunSummary`.

    Parameters
    ----------
    config : ConvertRecordingsConfig or str
        What to do: a configuration, or its file (`flows.given_config`).
    changes : list of str
        Changes of the file's, as ``--set``.

    Raises
    ------
    RunFailedError
        When recordings failed and none was converted, or ``on_error`` says to stop. It holds the summary.
    ShadowzarrError
        When the run as a whole is impossible.
    """
    config = given_config(config, changes, ConvertRecordingsConfig)
    request = config.request
    with join_run(request) as begun, watching(config, begun) as notifier:
        log = begun.log
        if not begun.is_planned:
            plan_recordings(config.conversion, log)
        with (
            stores_session(config.conversion),
            open_progress(log.plan, json_lines=begun.json_lines, words=words_of(config.flow)) as progress,
            closing(convert_planned(config, begun)) as ended,
        ):
            gather(config.flow, begun, progress, ended)
        with begun.finishing():
            summary = finish_run(config, log)
        begun.tell_end(notifier, summary, report=str(request.public.report))
    create_artifacts(summary, report=str(request.public.report))
    return final_state(summary, must_stop=request.stop_on_error)


def convert_planned(config: ConvertRecordingsConfig, begun: BegunRun) -> Generator[IndexRecord]:
    """Take the planned recordings through their stages, a bounded number at a time."""
    request = config.conversion
    if not begun.log.plan.work:
        return
    with conversion_pool(request) as pool:
        pool.start()
        bench = open_bench(request, pool)
        begun.workshop = bench.workshop
        runner = TaskStages(bench, retries=config.run.retries, tasks=TASKS)
        yield from run_recordings(begun.log.plan.work, runner, request)
