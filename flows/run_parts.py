"""A run whose dandisets, folders and manifests are done by flow runs of Prefect's workers, each a part.

What came of a part is read from the records in the output, so that a part that breaks off loses nothing.
Whether it still works is told by its lock, which goes with its process, whatever ends that: Prefect itself
would show it as running for ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled, Crashed

from shadowzarr.catalog.clock import utc_now
from shadowzarr.catalog.index_run import RunLog
from shadowzarr.catalog.layout import Listing, OutputLayout
from shadowzarr.catalog.parts import is_at_work, taken_over
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import IndexRecord, load_record
from shadowzarr.catalog.request import IndexRequest
from shadowzarr.errors import UsageError

from .begun_run import BegunRun
from .index_config import IndexDandisetsConfig
from .warning_lines import warn

_SOURCES = {"dandisets": ("id", ""), "folders": ("name", "path"), "manifests": ("name", "file")}
"""Keys of their entries that hold the name and the place."""
LOOK_SECONDS = 2.0
GONE_SECONDS = 20.0
"""How long a part that is said to run may hold no lock: before it has taken it, and after it gave it back."""


def split_planned(
    config: IndexDandisetsConfig,
    begun: BegunRun,
    do_rest: Callable[[list[AssetWork]], Iterator[IndexRecord]],
) -> Generator[IndexRecord]:
    """Have the planned assets done in parts, then what is left of them here; gives their records.

    Parameters
    ----------
    config : IndexDandisetsConfig
    begun : BegunRun
        With its plan.
    do_rest : callable
        Does assets here.
    """
    work, done = begun.log.plan.work, set()
    if not work:
        return
    has_failed = False
    for one, record in Parts(config, begun).ended():
        done.add(id(one))
        has_failed = has_failed or record.outcome == "failed"
        yield record
    left = [one for one in work if id(one) not in done]
    if not left or (has_failed and begun.request.stop_on_error):
        return
    with taken_over(begun.request.layouts, {one.asset.dandiset for one in left}) as free:
        for name in sorted({one.asset.dandiset for one in left} - free):
            warn(f"the part {name} is still at work, and is left to it")
        yield from do_rest([one for one in left if one.asset.dandiset in free])


def part_config(config: IndexDandisetsConfig, log: RunLog, name: str) -> dict[str, Any]:
    """The configuration of a part, as parameters of a flow run: without secrets and relative paths."""
    versions = {version.dandiset: version.version for version in log.versions}
    values = config.model_dump(mode="json", exclude_unset=True)
    for key in ("notify", "icechunk", "materialize", "metrics", "split", "prices"):
        values.pop(key, None)
    for key, (title, place) in _SOURCES.items():
        models = getattr(config, key)
        values[key] = [
            entry | {title: name} | ({place: _absolute(entry[place])} if place else {})
            for entry, model in zip(values.get(key, []), models, strict=True)
            if (model.id if key == "dandisets" else model.title) == name
        ]
    if len(values["dandisets"]) == 1:
        values["dandisets"][0]["version"] = versions[name]
    for key in ("folder", "private_output"):
        if values["output"].get(key):
            values["output"][key] = _absolute(values["output"][key])
    return values


@dataclass
class _Part:
    """A part, and the flow run that does it."""

    name: str
    work: list[AssetWork]
    flow_run: UUID
    tries: int = 1
    state: State[Any] | None = None
    without_lock_since: float | None = None
    seen: set[int] = field(default_factory=set)


class Parts:
    """Begins parts, looks after them, and reads their records.

    Parameters
    ----------
    config : IndexDandisetsConfig
        With a section ``split``.
    begun : BegunRun
        With its plan.

    Raises
    ------
    UsageError
        When there is no such deployment.
    """

    def __init__(self, config: IndexDandisetsConfig, begun: BegunRun) -> None:
        if config.split is None:
            raise TypeError("this run is not in parts")
        self._config, self._split, self._begun = config, config.split, begun
        self._request: IndexRequest = begun.request
        self._before = {path: state for layout in self._request.layouts for path, state in _records(layout)}
        self._moved = time.monotonic()

    def ended(self) -> Iterator[tuple[AssetWork, IndexRecord]]:
        """Run all parts; gives the assets that they have done, and their records."""
        of_part: dict[str, list[AssetWork]] = {}
        for one in self._begun.log.plan.work:
            of_part.setdefault(one.asset.dandiset, []).append(one)
        with get_client(sync_client=True) as client:
            deployment = self._deployment(client)
            parts = [
                _Part(name, work, self._begin(client, deployment, name)) for name, work in of_part.items()
            ]
            while parts:
                time.sleep(LOOK_SECONDS)
                self._begun.wait_when_stopping()
                self._look(client, parts)
                for part in [each for each in parts if each.state is not None]:
                    yield from self._new_records(part)
                    if not self._begin_again(client, deployment, part):
                        parts.remove(part)

    def _deployment(self, client: SyncPrefectClient) -> UUID:
        try:
            return client.read_deployment_by_name(self._split.deployment).id
        except ObjectNotFound:
            raise UsageError(
                f"split.deployment: Prefect's server has no deployment {self._split.deployment}; deploy "
                "configs/prefect.yaml there, or leave split out"
            ) from None

    def _begin(self, client: SyncPrefectClient, deployment: UUID, name: str) -> UUID:
        parameters = {"config": part_config(self._config, self._begun.log, name)}
        return client.create_flow_run_from_deployment(
            deployment, parameters=parameters, name=f"{name} {utc_now()}"
        ).id

    def _begin_again(self, client: SyncPrefectClient, deployment: UUID, part: _Part) -> bool:
        """Begin a part anew that broke off; gives whether it was."""
        state, left = part.state, len(part.work) - len(part.seen)
        if state is None or not left:
            return False
        if state.is_completed():
            warn(
                f"the part {part.name} ended, and {left} assets have no records here; does its worker see "
                f"{self._request.public.title}?"
            )
            return False
        is_last = part.tries >= self._split.tries or state.is_cancelled()
        warn(
            f"the part {part.name} broke off ({state.message or state.name}); "
            f"{left} assets are {'left to this run' if is_last else 'begun again'}"
        )
        if is_last:
            return False
        part.flow_run, part.state = self._begin(client, deployment, part.name), None
        part.tries += 1
        part.without_lock_since = None
        return True

    def _look(self, client: SyncPrefectClient, parts: list[_Part]) -> None:
        """Note which parts have ended; end those whose processes are gone."""
        wanted = FlowRunFilter(id=FlowRunFilterId(any_=[part.flow_run for part in parts]))
        found: dict[UUID, FlowRun] = {}
        for start in range(0, len(parts), 200):
            for run in client.read_flow_runs(flow_run_filter=wanted, limit=200, offset=start):
                found[run.id] = run
        if any(run.state_type is StateType.RUNNING for run in found.values()):
            self._moved = time.monotonic()
        for part in parts:
            known = found.get(part.flow_run)
            state = Crashed(message="its flow run was deleted") if known is None else known.state
            if state is not None and not state.is_final():
                state = self._given_up(client, part, state)
            if state is not None:
                part.state, self._moved = state, time.monotonic()

    def _given_up(self, client: SyncPrefectClient, part: _Part, state: State[Any]) -> State[Any] | None:
        """End a part that will not end by itself, so that it holds no place at the server."""
        now, patience = time.monotonic(), self._split.start_seconds
        ended: State[Any] | None = None
        if state.is_running():
            at_work = is_at_work(self._request.public, part.name)
            part.without_lock_since = None if at_work else part.without_lock_since or now
            if part.without_lock_since is not None and now - part.without_lock_since > GONE_SECONDS:
                ended = Crashed(message="its process is gone")
        elif state.is_pending() and _age(state) > patience:
            ended = Crashed(message=f"it did not start within {patience:.0f} s")
        elif state.is_scheduled() and now - self._moved > patience:
            ended = Cancelled(message=f"no worker has taken it for {patience:.0f} s")
        if ended is not None:
            client.set_flow_run_state(part.flow_run, ended, force=True)
        return ended

    def _new_records(self, part: _Part) -> Iterator[tuple[AssetWork, IndexRecord]]:
        """Read what a part has recorded that was not there when the run began."""
        listings: dict[tuple[bool, str], Listing] = {}
        for number, one in enumerate(part.work):
            if number in part.seen:
                continue
            layout, version = self._layout(one), one.asset.version
            place = (one.private, version)
            if place not in listings:
                listings[place] = layout.list_version(part.name, version)
            for record in listings[place].records.get(layout.place(one.asset), []):
                if record.key == one.key and self._before.get(record.path) != record.state:
                    part.seen.add(number)
                    yield one, load_record(layout.store, layout.relative(record.path))

    def _layout(self, work: AssetWork) -> OutputLayout:
        private = self._request.private
        return private if work.private and private is not None else self._request.public


def _records(layout: OutputLayout) -> Iterator[tuple[PurePath, str]]:
    for records in layout.list_all().records.values():
        for record in records:
            yield record.path, record.state


def _age(state: State[Any]) -> float:
    return time.time() - state.timestamp.timestamp()


def _absolute(place: str) -> str:
    return place if "://" in place else str(Path(place).expanduser().absolute())
