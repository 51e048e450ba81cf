"""Flow: a part of a run, see `shadowzarr.catalog.parts`: the assets of one dandiset, folder or manifest.

It is begun by a run in parts (`flows.run_parts`), which reads what came of it from the records that it
leaves.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from shadowzarr.catalog.index_run import RunLog, output_session
from shadowzarr.formatting import format_count

from .begun_run import BegunRun
from .index_config import IndexDandisetsConfig
from .index_dandisets import index_planned, plan
from .show_progress import open_progress
from .task_runner import threads


@flow(name="index-part", task_runner=threads(), persist_result=False)
def index_part(config: IndexDandisetsConfig) -> State[Any]:
    """Index the assets of one dandiset, folder or manifest, and leave what is about the output to others.

    Parameters
    ----------
    config : IndexDandisetsConfig
        It names that one alone; where it is is absolute.

    Raises
    ------
    ShadowzarrError
        When the part is impossible, or another process is at work on it.
    """
    whole, log = config.request, RunLog()
    request = replace(whole, part=whole.names[0])
    with output_session(request):
        plan(config, request, log)
        with (
            open_progress(log.plan) as progress,
            closing(index_planned(config, BegunRun(request, log), progress)) as ended,
        ):
            for record in ended:
                log.records.append(record)
                progress.ended(record)
    failed = sum(record.outcome == "failed" for record in log.records)
    return Completed(message=f"{failed:,} of {format_count(len(log.records), 'asset')} failed")
