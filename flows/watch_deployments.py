"""Flow: deployments that have not run when they should have, and outputs that nobody wrote to.

What is killed, or goes down with its machine, tells nobody; this one looks. It belongs on another machine
than what it looks after, or into another scheduler.
"""

from __future__ import annotations

import sys
from typing import Any

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State

from .crash_hook import tell_crashed
from .given_config import given_config
from .last_runs import last_run, last_written
from .watch_config import WatchDeploymentsConfig
from .watch_summary import LastRun, WatchSummary, markdown_watch, watch_end
from .watched_flow import watched_flow


@flow(name="watch-deployments", persist_result=False, on_crashed=[tell_crashed])
def watch_deployments(config: WatchDeploymentsConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Look at deployments and outputs; the result of the completed state is a `WatchSummary`.

    Parameters
    ----------
    config : WatchDeploymentsConfig or str
        What to do: a configuration, or its file (`flows.given_config`).
    changes : list of str
        Changes of the file's, as ``--set``.

    Raises
    ------
    OSError
        When an output cannot be read.
    """
    config = given_config(config, changes, WatchDeploymentsConfig)
    with watched_flow(config) as watched:
        summary = _look(config)
        for each in summary.missing:
            print(each.line, file=sys.stderr, flush=True)
        return watched.ended(
            summary,
            watch_end(summary),
            markdown=markdown_watch(summary),
            failures=[{"subject": each.subject, "matter": each.text} for each in summary.missing],
        )


def _look(config: WatchDeploymentsConfig) -> WatchSummary:
    """Look at all of them."""
    found: list[LastRun] = []
    if config.deployments:
        with get_client(sync_client=True) as client:
            found += [last_run(client, each) for each in config.deployments]
    return WatchSummary([*found, *map(last_written, config.outputs)])
