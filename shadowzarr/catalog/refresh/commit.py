"""One commit that makes a repository hold what a version has, and what its history says of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import icechunk

from ...errors import UsageError
from ...icechunk.asset_groups import HeldAsset, held_assets
from ...icechunk.commits import commit_changes
from ..clock import utc_now
from ..libraries import library_versions
from .apply import SessionWriter
from .contents import Contents
from .decide import RepositoryChange, decide
from .repositories import identity_of, named_errors, open_existing, open_or_make
from .request import RefreshRequest
from .state import DandisetState


@dataclass(frozen=True)
class Committed:
    """What following the archive gave.

    Attributes
    ----------
    change : RepositoryChange
        What was done.
    snapshot : str or None
        The commit; None when nothing was changed.
    assets : int
        Assets that the repository holds.
    """

    change: RepositoryChange
    snapshot: str | None
    assets: int


def follow_archive(request: RefreshRequest, state: DandisetState) -> Committed:
    """Make a repository hold what the version has, in one commit; none when nothing changed.

    Raises
    ------
    UsageError
        When the archive lists nothing at all of a dandiset that the repository holds assets of.
    CommitConflictError
        When others committed during each try.
    OutputError
        When the repository cannot be opened or written.
    """
    version, contents = state.version, state.contents
    place = request.repository(version.dandiset)
    existing = open_existing(request, version.dandiset)
    with named_errors(place):
        held = (
            {} if existing is None else held_assets(existing.readonly_session(branch_of(existing, request)))
        )
        if held and not contents.listed:
            raise UsageError(
                f"the archive lists no asset of {version.title}, and its repository holds {len(held)}: it is "
                "left as it is; remove it by hand when the dandiset is gone"
            )
        change = decide(held, contents.wanted, force=request.force)
        if change.is_empty:
            change.missing += contents.missing
            return Committed(change, None, len(held))
        writer = session_writer(request, version.dandiset, contents)
        repo = open_or_make(request, version.dandiset, virtual_urls(contents))
        snapshot = commit_changes(
            repo,
            lambda: commit_message(state, writer.change),
            writer,
            branch=request.branch,
            metadata=lambda: provenance(request, state, writer.change),
        )
    done = writer.change
    done.missing += contents.missing
    return Committed(done, snapshot, len(done.kept) + len(done.writes))


def session_writer(request: RefreshRequest, dandiset: str, contents: Contents) -> SessionWriter:
    """What makes a session hold some contents."""
    return SessionWriter(
        contents.wanted,
        request.public,
        identity_of(request, dandiset),
        copy_selections=request.copy_selections,
        force=request.force,
    )


def commit_message(state: DandisetState, change: RepositoryChange) -> str:
    """What the history says of a commit."""
    done = ", ".join(f"{count:,} {name}" for name, count in change.counts.items())
    return f"{state.version.title} of the archive: {done}"


def provenance(request: RefreshRequest, state: DandisetState, change: RepositoryChange) -> dict[str, Any]:
    """What is kept with a commit."""
    return {
        **identity_of(request, state.version.dandiset),
        "version": state.version.version,
        "refreshed": utc_now(),
        "assets": len(change.kept) + len(change.writes),
        "changes": change.counts,
        "missing": len(change.missing) + len(state.contents.missing),
        "libraries": library_versions(),
    }


def virtual_urls(contents: Contents) -> Iterable[str]:
    """Where the bytes are of what can be written."""
    return (each.url for each in contents.wanted.values() if each.record is not None)


def held_in(repo: icechunk.Repository | None, request: RefreshRequest) -> dict[str, HeldAsset]:
    """What a repository holds in the branch that is followed; nothing where there is none."""
    return {} if repo is None else held_assets(repo.readonly_session(branch_of(repo, request)))


def branch_of(repo: icechunk.Repository, request: RefreshRequest) -> str:
    """The branch that is followed; the first one while it is not there."""
    return request.branch if request.branch in repo.list_branches() else "main"
