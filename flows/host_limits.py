"""Prefect's limits by host, which hold for all machines that work for one server of Prefect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from prefect.client.orchestration import get_client
from prefect.concurrency.sync import concurrency

from shadowzarr.catalog.limits import host_of
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.stages import Admission
from shadowzarr.errors import TransientReadError

PREFIX = "host:"
"""Global concurrency limits are called so, such as ``host:api.dandiarchive.org``."""

MOST_LIMITS = 200


@dataclass(frozen=True)
class HostAdmission:
    """Takes a slot of its host's limit while a file is read; hosts without a limit take none.

    Attributes
    ----------
    limits : frozenset of str
        Names of the limits that there are.
    """

    limits: frozenset[str]

    def __call__(self, work: AssetWork) -> AbstractContextManager[Any]:
        """Read a file inside."""
        name = f"{PREFIX}{host_of(work)}"
        return _slot(name) if name in self.limits else contextlib.nullcontext()


def host_admission() -> Admission:
    """Return what a file is read in; which limits there are is asked once."""
    with get_client(sync_client=True) as client:
        limits = client.read_global_concurrency_limits(limit=MOST_LIMITS)
    return HostAdmission(
        frozenset(limit.name for limit in limits if limit.active and limit.name.startswith(PREFIX))
    )


@contextlib.contextmanager
def _slot(name: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(concurrency(name, occupy=1))
        except Exception as error:
            reason = type(error).__name__
            raise TransientReadError(
                f"no place under Prefect's limit {name} could be had ({reason})"
            ) from error
        yield
