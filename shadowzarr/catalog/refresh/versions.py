"""Published versions as tags of a repository.

A tag is made once and never moves, so it is made of a version that is whole: assets that are not indexed yet
keep it waiting. Where the branch holds just what the version has, before a refresh or after it, the tag is
there. Otherwise, as when the draft went on after publishing, it is at a snapshot of its own beside the
branch, whose history stays one commit a refresh. That is made before the refresh where it can be, since the
bytes of assets that were replaced meanwhile have no references in the output any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import icechunk

from ...errors import UsageError
from ...formatting import format_count
from ...icechunk.asset_groups import HeldAsset, held_assets
from ...icechunk.commits import side_snapshot, tag_version
from ..request import DandisetRequest
from .commit import commit_message, provenance, session_writer, virtual_urls
from .contents import Contents, MissingAsset
from .decide import decide
from .report import VersionTag
from .repositories import open_existing, open_or_make
from .request import RefreshRequest
from .state import DandisetState, list_versions

RECENT = 2
"""Snapshots of the branch that a version is looked for in: what was there before a refresh, and after it."""


def tag_before(request: RefreshRequest, wanted: DandisetRequest, state: DandisetState) -> list[VersionTag]:
    """Tag the versions without a tag that the repository holds as it is, or that it would lose by a refresh.

    Errors and result as for `tag_after`; versions that are like the draft are left to that.
    """
    made = []
    names = _untagged(request, wanted, state)
    list_versions(request, wanted, state, names)
    for name in names:
        contents = state.versions[name]
        tag = _tag(
            request, _of_version(state, name, contents), is_aside=not _are_like(contents, state.contents)
        )
        made += [tag] if tag.snapshot else []
    return made


def tag_after(request: RefreshRequest, wanted: DandisetRequest, state: DandisetState) -> list[VersionTag]:
    """Tag the versions that have no tag yet, oldest first, in a repository that was refreshed.

    Returns
    -------
    list of VersionTag
        One for each of them, those that could not be tagged with the reason.

    Raises
    ------
    ShadowzarrError
        When a version cannot be listed, or the repository not be written.
    """
    made = []
    names = _untagged(request, wanted, state)
    list_versions(request, wanted, state, names)
    for name in names:
        contents = state.versions[name]
        made.append(_tag(request, _of_version(state, name, contents), is_aside=True))
    return made


def plan_tags(
    request: RefreshRequest,
    wanted: DandisetRequest,
    state: DandisetState,
    *,
    held: Mapping[str, HeldAsset],
    tags: Collection[str],
) -> list[VersionTag]:
    """Say which versions would be tagged, and why others would not; nothing is written.

    Parameters
    ----------
    request, wanted, state
        As for `tag_after`.
    held : mapping
        What the repository holds, by group.
    tags : collection of str
        Tags that are there.
    """
    names = [name for name in state.published if name not in tags]
    list_versions(request, wanted, state, names)
    found = []
    for name in names:
        contents = state.versions[name]
        missing = [*decide(held, contents.wanted).missing, *contents.missing]
        found.append(VersionTag(name, reason=_waits(missing)))
    return found


def _untagged(request: RefreshRequest, wanted: DandisetRequest, state: DandisetState) -> list[str]:
    repo = open_existing(request, wanted.dandiset) if state.published else None
    tags = repo.list_tags() if repo is not None else set(state.published)
    return [name for name in state.published if name not in tags]


def _of_version(state: DandisetState, name: str, contents: Contents) -> DandisetState:
    return DandisetState(replace(state.version, version=name), contents)


def _are_like(first: Contents, second: Contents) -> bool:
    """Whether two versions have the same assets."""
    ours, theirs = (
        {group: each.asset.asset_id for group, each in of.wanted.items()} for of in (first, second)
    )
    return ours == theirs


def _tag(request: RefreshRequest, state: DandisetState, *, is_aside: bool) -> VersionTag:
    """Tag a version in the branch, or beside it where that is wanted."""
    name, contents = state.version.version, state.contents
    repo = open_or_make(request, state.version.dandiset, virtual_urls(contents))
    found, waits = _of_branch(repo, request, contents)
    is_of_branch = found is not None
    if found is None:
        if waits or not is_aside:
            return VersionTag(name, reason=waits)
        found, waits = _side(repo, request, state)
    if waits:
        return VersionTag(name, reason=waits)
    try:
        return VersionTag(name, tag_version(repo, name, snapshot=found), is_of_branch)
    except UsageError as error:  # as when somebody deleted it: nobody can make it again
        return VersionTag(name, reason=str(error))


def _side(repo: icechunk.Repository, request: RefreshRequest, state: DandisetState) -> tuple[str, str]:
    """A snapshot beside the branch that holds what a version has; and what it waits for."""
    writer = session_writer(request, state.version.dandiset, state.contents)
    snapshot = side_snapshot(
        repo,
        lambda: commit_message(state, writer.change),
        writer,
        branch=request.branch,
        metadata=lambda: provenance(request, state, writer.change),
    )
    return snapshot, _waits(writer.change.missing)


def _of_branch(
    repo: icechunk.Repository, request: RefreshRequest, contents: Contents
) -> tuple[str | None, str]:
    """The recent snapshot of the branch that holds just what a version has, if any; and what it waits for."""
    waits = ""
    for number, each in enumerate(repo.ancestry(branch=request.branch)):
        if number == RECENT:
            break
        change = decide(held_assets(repo.readonly_session(snapshot_id=each.id)), contents.wanted)
        waiting = _waits([*change.missing, *contents.missing])
        if change.is_empty and not waiting:
            return each.id, ""
        waits = waits or (waiting if number == 0 else "")
    return None, waits


def _waits(missing: list[MissingAsset]) -> str:
    """What a version waits for before it can be tagged; nothing when all is there that can ever be."""
    waiting = [each for each in missing if not each.is_final]
    if not waiting:
        return ""
    first = waiting[0]
    return (
        f"{format_count(len(waiting), 'asset')} of it cannot be written, the first {first.path}: "
        f"{first.reason}; index_dandisets does it with this version in its configuration"
    )
