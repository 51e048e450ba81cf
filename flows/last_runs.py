"""When deployments last completed a run, and outputs were last written; why, where that is too long ago."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import TERMINAL_STATES, DeploymentStatus, FlowRun, StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound

from shadowzarr.formatting import format_seconds

from .watch_config import DeploymentSection, WatchedOutput
from .watch_summary import LastRun


def last_run(client: SyncPrefectClient, wanted: DeploymentSection) -> LastRun:
    """Look at the runs of a deployment; one of which none has ended yet has time from its making on."""
    try:
        deployment = client.read_deployment_by_name(wanted.name)
    except ObjectNotFound:
        return LastRun(wanted.name, "there is no such deployment at Prefect's server", is_missing=True)
    completed = _latest(client, deployment, FlowRunSort.END_TIME_DESC, StateType.COMPLETED)
    when, allowed = None if completed is None else completed.end_time, timedelta(hours=wanted.within_hours)
    text, is_missing = _age(when, allowed, "completed a run", "completed no run")
    if when is None and _latest(client, deployment, FlowRunSort.END_TIME_DESC, *_ENDED) is None:
        made, is_missing = _age(deployment.created, allowed, "was deployed", "nobody knows when it was made")
        text = f"{text}, and {made}"
    reasons = "; ".join(_reasons(client, deployment)) if is_missing else ""
    return LastRun(wanted.name, f"{text}; {reasons}" if reasons else text, is_missing)


def last_written(wanted: WatchedOutput) -> LastRun:
    """Look at the file that each run writes to an output.

    Raises
    ------
    OSError
        When the output cannot be read.
    """
    layout = wanted.layout
    written = layout.store.modified(wanted.file)
    allowed = timedelta(hours=wanted.within_hours)
    text, is_missing = _age(written, allowed, f"{wanted.file} was written", f"there is no {wanted.file}")
    return LastRun(layout.title, text, is_missing)


def _age(when: datetime | None, allowed: timedelta, what: str, none: str) -> tuple[str, bool]:
    if when is None:
        return none, True
    age = datetime.now(UTC) - when
    limit = format_seconds(allowed.total_seconds())
    return f"{what} {format_seconds(age.total_seconds())} ago (within {limit})", age > allowed


def _reasons(client: SyncPrefectClient, deployment: DeploymentResponse) -> Iterator[str]:
    """Say what may be why a deployment does not run."""
    latest = _latest(client, deployment, FlowRunSort.EXPECTED_START_TIME_DESC, *_BEGUN)
    going_on = _latest(client, deployment, FlowRunSort.EXPECTED_START_TIME_DESC, StateType.RUNNING)
    if going_on is not None and latest is not None and going_on.id != latest.id:
        since = "" if going_on.start_time is None else f" since {going_on.start_time:%Y-%m-%d %H:%M} UTC"
        yield f"the run {going_on.name} is Running{since}"  # for which later ones are cancelled
    if latest is not None and latest.state is not None and not latest.state.is_completed():
        message = f": {latest.state.message}" if latest.state.message else ""
        yield f"the latest run, {latest.name}, is {latest.state.name}{message}"
    if deployment.paused:
        yield "the deployment is paused"
    elif not any(schedule.active for schedule in deployment.schedules):
        yield "it has no active schedule"
    if deployment.work_pool_name and deployment.status == DeploymentStatus.NOT_READY:
        yield f"no worker asks for runs of the work pool {deployment.work_pool_name}"


_ENDED = [each for each in StateType if each in TERMINAL_STATES]
_BEGUN = [each for each in StateType if each is not StateType.SCHEDULED]


def _latest(
    client: SyncPrefectClient, deployment: DeploymentResponse, sort: FlowRunSort, *states: StateType
) -> FlowRun | None:
    found = client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment.id])),
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(states)))
        ),
        sort=sort,
        limit=1,
    )
    return found[0] if found else None
