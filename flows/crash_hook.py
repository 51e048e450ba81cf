"""What Prefect calls when a flow run crashed: in its own process, or in the runner whose process is gone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from prefect.runtime import flow_run as current_run
from pydantic import ValidationError

from shadowzarr.errors import ConfigError

from .load_config import load_config
from .notify import Notifier
from .notify_section import NotifySection
from .warning_lines import warn


class NotifiedConfig(Protocol):
    """A flow's configuration that says who is told."""

    @property
    def flow(self) -> str:
        """The flow."""
        ...

    @property
    def source(self) -> str:
        """Where it stands."""
        ...

    @property
    def notify(self) -> NotifySection | None:
        """Who is told; nobody when left out."""
        ...


RUNNING: dict[str, Notifier] = {}
"""Who tells how flow runs of this process end, by their ids."""


@contextlib.contextmanager
def notifying(config: NotifiedConfig, notifier: Notifier | None = None) -> Iterator[Notifier]:
    """Have somebody told how the flow run that is going on ends, also when it breaks off inside or crashes.

    Parameters
    ----------
    config : NotifiedConfig
        What is run.
    notifier : Notifier, optional
        The one that tells, where there is one already.
    """
    notifier = notifier or Notifier(config.notify, flow=config.flow, configuration=config.source)
    key = str(current_run.id)
    RUNNING[key] = notifier
    with notifier.watching():
        yield notifier
    RUNNING.pop(key, None)  # one that breaks off is left to `tell_crashed`


def tell_crashed(flow: Any, flow_run: Any, state: Any) -> None:
    """Tell that a flow run crashed, unless its own process did.

    Parameters
    ----------
    flow : prefect.Flow
    flow_run : prefect.client.schemas.objects.FlowRun
        A runner knows no more of it than its parameters, in which an address in the configuration is hidden;
        the name of a variable and a block are not.
    state : prefect.client.schemas.objects.State
    """
    notifier = RUNNING.pop(str(flow_run.id), None) or _from_parameters(flow, flow_run)
    if notifier is not None:
        notifier.tell(f"the flow run {flow_run.name} crashed: {state.message or 'no reason is known'}")


def _from_parameters(flow: Any, flow_run: Any) -> Notifier | None:
    parameters = flow_run.parameters or {}
    config, name = parameters.get("config"), flow.name.replace("-", "_")
    if isinstance(config, str):
        return _from_file(config, parameters.get("changes") or (), name)
    section = config.get("notify") if isinstance(config, dict) else None
    if not section:
        return None
    try:
        return Notifier(NotifySection.model_validate(section), flow=name)
    except ValidationError:
        warn("nobody could be notified: notify: holds no address any more")
        return None


def _from_file(path: str, changes: Sequence[str], flow: str) -> Notifier | None:
    """Who is told by a file that a deployment names; a runner is in the folder that it is relative to."""
    try:
        return Notifier(load_config(path, changes=changes).notify, flow=flow, configuration=path)
    except ConfigError as error:
        warn(f"nobody could be notified: {error}")
        return None
