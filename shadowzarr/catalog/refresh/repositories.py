"""Repositories of a refresh: opened or made with what they need, held by one run, their errors named."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import icechunk

from ...errors import OutputError, UsageError
from ...icechunk.asset_groups import dandiset_of
from ...icechunk.locations import chunk_url
from ...icechunk.repository import open_repository, repository_exists
from ..lock import output_lock
from .request import RefreshRequest

WORKINGS = ".shadowzarr"
"""Folder beside local repositories for the lock, and for one that is being made."""


@contextlib.contextmanager
def refresh_session(request: RefreshRequest) -> Iterator[None]:
    """Hold the output, so that its references stay while they are read, and a local place of repositories.

    A place in a bucket needs no lock: who commits first wins there, and the other does it again.

    Raises
    ------
    OutputBusyError
        When another run holds one of them.
    OutputError
        When one cannot be written.
    """
    with request.public.store.held(), place_session(request):
        yield


@contextlib.contextmanager
def place_session(request: RefreshRequest) -> Iterator[None]:
    """Hold the place of repositories alone, for a run that holds the output; errors as above."""
    folder = request.folder
    with output_lock(folder / WORKINGS / "lock") if folder is not None else contextlib.nullcontext():
        if folder is not None:
            _clear(folder)
        yield


@contextlib.contextmanager
def named_errors(place: str) -> Iterator[None]:
    """Say in one line what Icechunk says of a repository.

    Raises
    ------
    OutputError
        In place of its errors.
    """
    try:
        yield
    except icechunk.IcechunkError as error:
        reason = str(error).partition("\n")[0]
        raise OutputError(f"the Icechunk repository at {place}: {reason}") from error


def open_existing(request: RefreshRequest, dandiset: str) -> icechunk.Repository | None:
    """Open a dandiset's repository to look at it; none when there is none.

    Raises
    ------
    UsageError
        When it is of another dandiset or archive.
    OutputError
        When it cannot be opened.
    """
    place = request.repository(dandiset)
    if not _exists(request, place):
        return None
    repo = _open(request, place, create=False)
    _check_owner(repo, request, dandiset)
    return repo


def open_or_make(request: RefreshRequest, dandiset: str, urls: Iterable[str]) -> icechunk.Repository:
    """Open a dandiset's repository, or make it, with containers for some files; errors as above."""
    place = request.repository(dandiset)
    needed = sorted({chunk_url(url) for url in urls})
    if not _exists(request, place):
        _make(request, dandiset, needed)
    repo = _open(request, place, needed)
    _check_owner(repo, request, dandiset)
    with named_errors(place):
        if request.branch not in repo.list_branches():
            repo.create_branch(request.branch, repo.lookup_branch("main"))
    return repo


def identity_of(request: RefreshRequest, dandiset: str) -> dict[str, str]:
    """What the root of a repository says of its dandiset."""
    return {"archive": request.archive.api_url.rstrip("/"), "dandiset": dandiset}


def _make(request: RefreshRequest, dandiset: str, urls: list[str]) -> None:
    """Make a repository; a local one elsewhere first, since one that is half made can never be opened."""
    place, folder = request.repository(dandiset), request.folder
    if folder is None:
        _open(request, place, urls)
        return
    made, final = folder / WORKINGS / f"new-{uuid.uuid4().hex}", Path(place)
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
        if final.exists() and (not final.is_dir() or any(final.iterdir())):
            raise OutputError(f"{final} holds other files and no Icechunk repository; name another place")
        open_repository(made, urls)
        made.replace(final)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"cannot make {final}: {error.strerror or error}") from error


def _exists(request: RefreshRequest, place: str) -> bool:
    return repository_exists(place, endpoint=request.endpoint, region=request.region)


def _open(
    request: RefreshRequest, place: str, urls: Iterable[str] = (), *, create: bool = True
) -> icechunk.Repository:
    return open_repository(place, urls, create=create, endpoint=request.endpoint, region=request.region)


def _clear(folder: Path) -> None:
    for left in (folder / WORKINGS).glob("new-*"):
        shutil.rmtree(left, ignore_errors=True)


def _check_owner(repo: icechunk.Repository, request: RefreshRequest, dandiset: str) -> None:
    place = request.repository(dandiset)
    with named_errors(place):
        branch = request.branch if request.branch in repo.list_branches() else "main"
        found = dandiset_of(repo.readonly_session(branch))
    if found.get("dandiset", dandiset) != dandiset:
        raise UsageError(f"{place} is the repository of dandiset {found['dandiset']}; name another place")
