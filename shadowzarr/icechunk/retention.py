"""How long the history of a repository is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import icechunk

from ..errors import UsageError


@dataclass(frozen=True)
class Retention:
    """What is kept of the past.

    Attributes
    ----------
    keep : datetime.timedelta
        Age up to which snapshots stay; tips of branches and tags stay whatever their age.
    grace : datetime.timedelta
        Age up to which objects are never deleted, whether or not a snapshot needs them: a run that is
        writing has not committed yet. Longer than any run may take.
    """

    keep: timedelta = timedelta(days=30)
    grace: timedelta = timedelta(days=1)


@dataclass(frozen=True)
class Expired:
    """What was taken away.

    Attributes
    ----------
    snapshots : frozenset of str
        Ids of the snapshots that left the history.
    deleted_bytes : int
        Bytes of the objects that no snapshot needed any more.
    failed : int
        Objects that could not be deleted; the next run tries again.
    """

    snapshots: frozenset[str]
    deleted_bytes: int
    failed: int


def expire_snapshots(
    repo: icechunk.Repository, retention: Retention | None = None, *, now: datetime | None = None
) -> Expired:
    """Take snapshots out of the history that are older than the policy keeps, and delete what only they need.

    Tags and branches are never deleted.

    Parameters
    ----------
    repo : icechunk.Repository
        The repository.
    retention : Retention, optional
        30 days and a grace of one day when left out.
    now : datetime.datetime, optional
        The time from which ages count, with its zone; the present.

    Returns
    -------
    Expired
        What went.

    Raises
    ------
    UsageError
        When an age is negative.
    """
    policy, present = retention or Retention(), now or datetime.now(UTC)
    _check(policy)
    snapshots = repo.expire_snapshots(present - policy.keep)
    summary = repo.garbage_collect(present - policy.grace)
    return Expired(frozenset(snapshots), summary.bytes_deleted, summary.objects_failed_to_delete)


def expiring_snapshots(
    repo: icechunk.Repository, retention: Retention | None = None, *, now: datetime | None = None
) -> frozenset[str]:
    """Ids of the snapshots that `expire_snapshots` would take out of the history; nothing is changed.

    The first snapshot of a repository, and those that branches and tags point to, are never among them.
    """
    policy, present = retention or Retention(), now or datetime.now(UTC)
    _check(policy)
    branches = [repo.lookup_branch(name) for name in repo.list_branches()]
    pointed = {*branches, *(repo.lookup_tag(name) for name in repo.list_tags())}
    return frozenset(
        each.id
        for tip in pointed
        for each in repo.ancestry(snapshot_id=tip)
        if each.id not in pointed and each.parent_id is not None and each.written_at < present - policy.keep
    )


def _check(policy: Retention) -> None:
    if min(policy.keep, policy.grace) < timedelta(0):
        raise UsageError(f"{policy} keeps nothing that can be meant: an age is negative")
