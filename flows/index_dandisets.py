"""Flow: references for every asset of some dandisets, folders and manifests, verified and published.

A table of contents: resolve, plan, then per asset index → verify → publish and record, each a task.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from typing import Any
from uuid import uuid4

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from shadowzarr.catalog.asset_window import run_assets
from shadowzarr.catalog.budget import TimeBudget
from shadowzarr.catalog.index_run import (
    RunLog,
    child_pool,
    keep_to_budget,
    open_workshop,
    ordered_work,
    record_finder,
    resolve_versions,
    twins_of,
)
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.request import IndexRequest
from shadowzarr.catalog.run_summary import RunSummary
from shadowzarr.catalog.run_words import words_of
from tasks.list_assets import list_assets
from tasks.plan_assets import plan_assets
from tasks.retrying import policy

from .after_run import after_assets, check_after
from .artifacts import ProgressArtifact, create_artifacts
from .backfill_config import BackfillConfig
from .begun_run import BegunRun, join_run
from .crash_hook import tell_crashed
from .finish_run import finish_run
from .given_config import given_config
from .host_limits import host_admission
from .index_config import IndexDandisetsConfig
from .metrics import RunMetrics
from .run_failed import RunFailedError
from .run_parts import split_planned
from .show_progress import RunProgress, open_progress
from .submitting import check_runner, open_runner
from .task_runner import opaque, threads
from .task_stages import TaskStages
from .watched_flow import watching


@flow(
    name="index-dandisets",
    task_runner=threads(),
    persist_result=False,
    on_crashed=[tell_crashed],
)
def index_dandisets(config: IndexDandisetsConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Index dandisets; the result of the completed state is a `RunSummary`.

    Parameters
    ----------
    config : IndexDandisetsConfig or str
        What to do: a configuration, or its file (`flows.given_config`).
    changes : list of str
        Changes of the file's, as ``--set``.

    Raises
    ------
    RunFailedError
        When assets failed and none was indexed, or ``on_error`` says to stop. It holds the summary.
    ShadowzarrError
        When the run as a whole is impossible.
    """
    return index_assets(given_config(config, changes, IndexDandisetsConfig))


@flow(name="backfill", task_runner=threads(), persist_result=False, on_crashed=[tell_crashed])
def backfill(config: BackfillConfig | str, changes: list[str] | None = None) -> State[Any]:
    """Index what is missing, the oldest first, within a budget; otherwise as `index_dandisets`."""
    return index_assets(given_config(config, changes, BackfillConfig))


def index_assets(config: IndexDandisetsConfig) -> State[Any]:
    """What a flow does that indexes; errors and result as for `index_dandisets`."""
    request = config.request
    check_after(config)
    check_runner(config.run)
    metrics = RunMetrics(config.flow, config.metrics)
    with metrics.served(), join_run(request) as begun, watching(config, begun) as notifier:
        log = begun.log
        if not begun.is_planned:
            plan(config, request, log)
        with (
            open_progress(log.plan, json_lines=begun.json_lines) as progress,
            # Closed before Prefect waits for its threads, which wait for processes of the pool.
            closing(_run_planned(config, begun, progress)) as ended,
        ):
            gather(config.flow, begun, progress, ended, metrics)
        after = after_assets(config, log)
        with begun.finishing():
            summary = finish_run(config, log, after)
            metrics.end(summary.exit_code)
        begun.tell_end(notifier, summary, report=str(request.public.report))
    create_artifacts(summary, report=str(request.public.report))
    return final_state(summary, must_stop=request.stop_on_error)


def gather(
    flow: str,
    begun: BegunRun,
    progress: RunProgress[IndexRecord],
    ended: Iterable[IndexRecord],
    metrics: RunMetrics | None = None,
) -> None:
    """Take the records of assets as they end, and tell of each."""
    begun.hush = progress.close
    begun.words = words_of(flow)
    artifact = ProgressArtifact(flow, len(begun.log.plan.work), begun.words.nouns)
    metrics = metrics or RunMetrics(flow)
    metrics.begin(len(begun.log.plan.work))
    told = 0
    for record in ended:
        begun.wait_when_stopping()
        begun.log.records.append(record)
        progress.ended(record)
        artifact.asset_ended()
        errors = 0 if begun.workshop is None else begun.workshop.resting.errors
        metrics.asset_ended(record, transient_errors=errors - told)
        told = errors


def plan(config: IndexDandisetsConfig, request: IndexRequest, log: RunLog) -> None:
    """Find what is wanted, list its assets, and decide what has to be done."""
    options = policy(config.run.retries)
    if not log.versions:
        log.versions = resolve_versions(request)
    for version, wanted in zip(log.versions, request.wanted, strict=True):
        assets = list_assets.with_options(**options)(opaque(request), opaque(wanted), version)
        log.plan.extend(plan_assets(opaque(request), version, opaque(assets), wanted.rules))
    keep_to_budget(request, log)


def _run_planned(
    config: IndexDandisetsConfig, begun: BegunRun, progress: RunProgress[IndexRecord]
) -> Generator[IndexRecord]:
    """Do what is planned, here or in parts."""
    if config.split is None:
        return index_planned(config, begun, progress)
    return split_planned(config, begun, lambda rest: index_planned(config, begun, progress, rest))


def index_planned(
    config: IndexDandisetsConfig,
    begun: BegunRun,
    progress: RunProgress[IndexRecord],
    work: Sequence[AssetWork] | None = None,
) -> Generator[IndexRecord]:
    """Take the planned assets, or some of them, through their stages, a bounded number at a time."""
    request, log = begun.request, begun.log
    work = ordered_work(request, log.plan) if work is None else work
    if not work:
        return
    with child_pool(request) as pool, open_runner(config.run, at_once=request.processes) as submit:
        if not config.run.is_elsewhere:
            pool.start()
        begun.workshop = workshop = open_workshop(
            request,
            pool,
            news=progress.asset_news,
            admission=host_admission(),
            run=uuid4().hex if config.run.is_elsewhere else "",
        )
        yield from run_assets(
            work,
            TaskStages(workshop, retries=config.run.retries, submit=submit),
            window=request.window,
            twins=twins_of(request, log.plan),
            record_path=record_finder(workshop),
            stop_on_error=request.stop_on_error,
            per_host=request.limits.assets_of_a_host,
            time_budget=TimeBudget(log.plan, request.budget),
            resting=workshop.resting,
        )


def final_state(summary: RunSummary, *, must_stop: bool) -> State[Any]:
    """Say how the run ended, in Prefect's words."""
    failed = len(summary.failures)
    if failed and (must_stop or failed == len(summary.records)):
        raise RunFailedError(summary)
    if failed:
        message = f"{failed} of {summary.words.counted(len(summary.records))} failed"
        return Completed(name="CompletedWithFailures", message=message, data=summary)
    return Completed(
        message=f"{summary.words.counted(len(summary.records))} {summary.words.done}", data=summary
    )
