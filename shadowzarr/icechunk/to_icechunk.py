"""References → an Icechunk session: byte ranges become virtual chunks, the rest is written natively."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import icechunk
import numpy as np
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ..errors import OutputError, UsageError
from ..refs.chunk_key import chunk_key
from ..store.chunk_table import Int64s
from ..store.load_rfs import load_rfs
from .containers import check_containers
from .locations import UrlFor
from .plan import ArrayPlan, Plan, VirtualRun, make_plan
from .room import group_path, make_room, set_nodes

ArrayProgress = Callable[[str, int, int], None]
"""Hears the path of an array that is written, how many are, and how many there will be."""

_AT_A_TIME = 64
"""Chunks that are copied at the same time."""

_MOST_EMPTY = 4
"""Places handed over for each chunk, above which chunks are named one by one."""


@dataclass(frozen=True)
class IcechunkReport:
    """What was written into a session.

    Attributes
    ----------
    groups, arrays : int
        Nodes of the document.
    virtual_chunks : int
        Chunks that stay where they are.
    native_chunks, native_bytes : int
        Chunks that the repository stores itself, and their bytes.
    files : tuple of str
        URLs of the files that virtual chunks are in.
    """

    groups: int
    arrays: int
    virtual_chunks: int
    native_chunks: int
    native_bytes: int
    files: tuple[str, ...]


def rfs_to_icechunk(
    refs: str | os.PathLike[str] | Mapping[str, Any],
    session: icechunk.Session,
    *,
    url_for: UrlFor | None = None,
    copy_selections: bool = False,
    cf_attributes: bool = False,
    group: str | None = None,
    replace: bool = False,
    allow_local_files: bool = False,
    progress: ArrayProgress | None = None,
) -> IcechunkReport:
    """Write a reference file system into an Icechunk session; committing it is the caller's.

    Parameters
    ----------
    refs : str, path or mapping
        As for `load_rfs`.
    session : icechunk.Session
        A writable one, of a repository with an authorised virtual chunk container for each place that
        the references point into.
    url_for : callable, optional
        Where a file is for Icechunk, by its location in the document: a local path or a URL. The
        ETag that is recorded must be that of the file there.
    copy_selections : bool, optional
        Read the data of arrays with a selection and write them into the repository.
    cf_attributes : bool, optional
        Write ``_FillValue``, ``scale_factor``, ``add_offset`` and ``missing_value`` of arrays whose axes all
        have names as xarray reads them. Without it `icechunk_to_rfs` gives them as they were.
    group : str, optional
        Path of the group to write to, such as ``"sub-01/session-2"``; the root when left out. Groups
        above it are made where they are missing.
    replace : bool, optional
        Whether what the group holds already is taken away first.
    allow_local_files : bool, optional
        As for `load_rfs`.
    progress : callable, optional
        Called with each array's path, their number so far, and in all.

    Returns
    -------
    IcechunkReport
        What was written.

    Raises
    ------
    UsageError
        When a container is missing or not authorised, or the group holds something already; nothing
        is written then.
    UnsupportedError
        When the document has what Icechunk has no counterpart for; nothing is written then.
    SourceChangedError, ReadError
        When a file is not the one that was indexed, or cannot be read where its bytes are copied.
    OutputError
        When Icechunk does not take what is written.
    """
    rfs = load_rfs(refs, allow_local_files=allow_local_files)
    plan = make_plan(rfs, url_for=url_for, copy_selections=copy_selections, cf_attributes=cf_attributes)
    return write_plan(plan, session, group=group, replace=replace, progress=progress)


def write_plan(
    plan: Plan,
    session: icechunk.Session,
    *,
    group: str | None = None,
    replace: bool = False,
    progress: ArrayProgress | None = None,
    is_checked: bool = False,
) -> IcechunkReport:
    """Write what was worked out for a document; parameters and errors as for `rfs_to_icechunk`.

    With `is_checked` the caller knows that the files have authorised containers; no file is asked then.
    """
    target = "" if group is None else group_path(group)
    if session.read_only:
        raise UsageError("the session is read-only; writing needs repo.writable_session(branch)")
    if not is_checked:
        check_containers(session, plan.urls)
    make_room(session.store, target, replace=replace)
    try:
        nbytes = _write(plan, session.store, target, progress or _nobody)
    except icechunk.IcechunkError as error:
        reason = str(error).partition("\n")[0]
        raise OutputError(f"Icechunk does not take the references at {'/' + target!r}: {reason}") from error
    return IcechunkReport(
        groups=len(plan.nodes) - len(plan.arrays),
        arrays=len(plan.arrays),
        virtual_chunks=plan.virtual,
        native_chunks=plan.native,
        native_bytes=nbytes,
        files=tuple(plan.urls),
    )


def _nobody(path: str, done: int, total: int) -> None:
    """What hears of progress when nobody asked for it."""


def _write(plan: Plan, store: icechunk.IcechunkStore, target: str, progress: ArrayProgress) -> int:
    prefix = f"{target}/" if target else ""
    documents = {(prefix + path).rstrip("/"): node for path, node in plan.nodes.items()}
    sync(set_nodes(store, documents))
    copied = 0
    for done, (path, array) in enumerate(plan.arrays.items()):
        progress(path, done, len(plan.arrays))
        place = (prefix + path).rstrip("/")
        for run in array.runs:
            _set_virtual(store, place, run)
        if len(array.native):
            copied += sync(_copy(plan, path, array, store, place))
    return copied


def _set_virtual(store: icechunk.IcechunkStore, path: str, run: VirtualRun) -> None:
    """Hand over the chunks of one file: all places of the box they lie in, at once.

    Icechunk looks for the container of every chunk that it is to check, which takes a tenth of the time; as
    all are in one file, it is asked once.
    """
    chunks = run.chunks
    one = replace(run, chunks=chunks.part(np.array([0])))
    _set_listed(store, path, one, one.chunks.coordinates)
    if len(chunks) == math.prod(chunks.grid):
        _set_box(store, path, run, chunks.grid, None, [run.url] * len(chunks), chunks.offsets, chunks.lengths)
        return
    coordinates = chunks.coordinates
    first = coordinates.min(axis=0)
    box = tuple((coordinates.max(axis=0) - first + 1).tolist())
    size = math.prod(box)
    if size > _MOST_EMPTY * len(chunks):
        _set_listed(store, path, run, coordinates)
        return
    places = np.ravel_multi_index(tuple((coordinates - first).T), box)
    urls = np.full(size, "", dtype=object)
    offsets, lengths = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    urls[places], offsets[places], lengths[places] = run.url, chunks.offsets, chunks.lengths
    _set_box(store, path, run, box, tuple(first.tolist()), urls.tolist(), offsets, lengths)


def _set_box(
    store: icechunk.IcechunkStore,
    path: str,
    run: VirtualRun,
    box: tuple[int, ...],
    first: tuple[int, ...] | None,
    urls: list[str],
    offsets: Any,
    lengths: Any,
) -> None:
    store.set_virtual_refs_arr(
        path,
        box,
        urls,
        np.ascontiguousarray(offsets),
        np.ascontiguousarray(lengths),
        validate_containers=False,
        arr_offset=first,
        checksum=run.checksum,
    )


def _set_listed(store: icechunk.IcechunkStore, path: str, run: VirtualRun, coordinates: Int64s) -> None:
    """Hand over chunks that lie far apart, which would leave most of a box empty."""
    kind = "etag_checksum" if isinstance(run.checksum, str) else "last_updated_at_checksum"
    checksum: dict[str, Any] = {kind: run.checksum}
    chunks = run.chunks
    rows = zip(coordinates.tolist(), chunks.offsets.tolist(), chunks.lengths.tolist(), strict=True)
    listed = [icechunk.VirtualChunkSpec(at, run.url, *place, **checksum) for at, *place in rows]
    refused = store.set_virtual_refs(path, listed)
    if refused:
        raise OutputError(
            f"Icechunk refuses chunks of array {'/' + path!r} in {run.url}, the first at {tuple(refused[0])}"
        )


async def _copy(plan: Plan, path: str, array: ArrayPlan, store: icechunk.IcechunkStore, place: str) -> int:
    """Read chunks through our store, which pads and selects, and write them."""
    coordinates = array.native.coordinates.tolist()
    copied = 0
    for start in range(0, len(coordinates), _AT_A_TIME):
        part = coordinates[start : start + _AT_A_TIME]
        copied += sum(await asyncio.gather(*[_copy_one(plan, path, at, store, place) for at in part]))
    return copied


async def _copy_one(
    plan: Plan, path: str, coordinates: list[int], store: icechunk.IcechunkStore, place: str
) -> int:
    key = plan.key(path, coordinates)
    data = await plan.store.get(key, default_buffer_prototype())
    if data is None:
        raise OutputError(f"chunk {tuple(coordinates)} of array {'/' + path!r} is gone from the references")
    await store.set(chunk_key(place, tuple(coordinates)), data)
    return len(data)
