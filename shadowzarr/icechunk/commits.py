"""Commits: one for each run, tried again on a conflict; and tags for what is published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import icechunk

from ..errors import CommitConflictError, UsageError

type Told[T] = T | Callable[[], T]
"""What is said of a commit, or a function that says it when all is written."""


def commit_changes(
    repo: icechunk.Repository,
    message: Told[str],
    write: Callable[[icechunk.Session], object],
    *,
    branch: str = "main",
    tries: int = 5,
    metadata: Told[dict[str, Any] | None] = None,
) -> str | None:
    """Write into a session and commit it, as one change that is there whole or not at all.

    When somebody else has committed to the branch meanwhile, the branch is read again and the writing
    repeated on it: nothing is merged.

    Parameters
    ----------
    repo : icechunk.Repository
        The repository.
    message : str or callable
        Says in its history what was done; a function of nothing is asked when all is written.
    write : callable
        Writes into the session that it is given. Called anew for each try, so it must start from what that
        session holds.
    branch : str, optional
        The branch, which must be there.
    tries : int, optional
        How often to try before giving up.
    metadata : dict or callable, optional
        Kept with the commit; a function as for `message`.

    Returns
    -------
    str or None
        The id of the new snapshot; None when nothing was changed.

    Raises
    ------
    CommitConflictError
        When somebody else was first each time; the repository is as they left it.
    UsageError
        When `tries` is less than 1.
    """
    if tries < 1:
        raise UsageError(f"tries is {tries}; expected 1 or more")
    for left in reversed(range(tries)):
        session = repo.writable_session(branch)
        write(session)
        if not session.has_uncommitted_changes:
            return None
        try:
            return session.commit(_told(message), _told(metadata))
        except icechunk.ConflictError as error:
            if not left:
                raise CommitConflictError(
                    f"branch {branch!r} of the Icechunk repository was changed by others during each of "
                    f"{tries} tries; nothing is committed. Try again when they are done"
                ) from error
    return None


def side_snapshot(
    repo: icechunk.Repository,
    message: Told[str],
    write: Callable[[icechunk.Session], object],
    *,
    branch: str = "main",
    metadata: Told[dict[str, Any] | None] = None,
) -> str:
    """Write into a session and save it as a snapshot beside the history of the branch, which does not move.

    Nobody finds the snapshot until it is tagged; one that is not is taken away by `expire_snapshots`.
    Parameters as for `commit_changes`.

    Returns
    -------
    str
        The id of the snapshot; that of the branch's tip when nothing was changed.
    """
    session = repo.writable_session(branch)
    write(session)
    if not session.has_uncommitted_changes:
        return str(session.snapshot_id)
    return session.flush(_told(message), metadata=_told(metadata))


def _told[T](said: Told[T]) -> T:
    return said() if callable(said) else said


def tag_version(
    repo: icechunk.Repository, name: str, *, snapshot: str | None = None, branch: str = "main"
) -> str:
    """Give a snapshot a name that keeps it from expiring.

    Parameters
    ----------
    repo : icechunk.Repository
        The repository.
    name : str
        The tag, such as a published version. A tag never moves; one that was deleted cannot be made again.
    snapshot : str, optional
        The snapshot; that at the tip of the branch when left out.
    branch : str, optional
        The branch.

    Returns
    -------
    str
        The snapshot's id. A tag that is at this snapshot already stays.

    Raises
    ------
    UsageError
        When the tag is at another snapshot, or cannot be made.
    """
    wanted = snapshot if snapshot is not None else repo.lookup_branch(branch)
    if name in repo.list_tags():
        found = repo.lookup_tag(name)
        if found != wanted:
            raise UsageError(
                f"tag {name!r} is at snapshot {found} and is not moved to {wanted}; choose another name"
            )
        return found
    try:
        repo.create_tag(name, wanted)
    except icechunk.IcechunkError as error:
        raise UsageError(f"tag {name!r} cannot be made: {str(error).partition(chr(10))[0]}") from error
    return wanted
