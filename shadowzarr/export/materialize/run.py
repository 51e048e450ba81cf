"""materialize itself: plan, place, arrays, metadata."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zarr.abc.store import Store

from ...access.locations import canonical
from ...errors import OutputError, ReadError, SourceChangedError, SourceError, UsageError
from ...store.store_options import StoreOptions, load_with
from .buckets import bucket_store
from .folder_place import FolderPlace, ZipPlace
from .layouts import Layout, layout_of
from .place import Place
from .plan import Plan, make_plan
from .report import MaterializeReport, Progress
from .store_place import SessionPlace, StorePlace
from .write_plan import PlanWriter, Settings

MAX_MEMORY = 2**30
"""Bytes of data that are held at a time, whatever the size of an array."""

_MOST_THREADS = 8
_LEAST_MEMORY = 2**20


def materialize(
    refs: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str] | Store | Any,
    *,
    layout: str | Layout | None = None,
    verify: bool = False,
    max_memory: int = MAX_MEMORY,
    threads: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    client: Any = None,
    cf_attributes: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> MaterializeReport:
    """Write the values that references point at into an ordinary Zarr store, which needs no sources.

    Groups, attributes (but those of `cf_attributes`) and arrays that the references hold are copied as they
    are. An array whose chunks are
    in files is written anew as the layout says. Each source is read once. A run that ended early is gone on
    with by the same call.

    Parameters
    ----------
    refs : str, path or mapping
        As for `load_rfs`.
    out : str, path, store or session
        A folder, a file that ends in ``.zip``, ``s3://BUCKET/PREFIX``, a zarr store, or a writable Icechunk
        session, which the caller commits. Nothing may be there yet.
    layout : str or callable, optional
        ``"default"``, ``"ephys"``, ``"imaging"``, or a function of an array's path and the `zarr.Array` that
        gives arguments of `zarr.create_array` (chunks, shards, compressors, …), or None to leave the chunks
        as they are stored.
    verify : bool, optional
        Read back what was written, and compare it bit for bit with what was read.
    max_memory : int, optional
        Bytes of data to hold at a time.
    threads : int, optional
        How many pieces to work on at the same time; by default as many as there are processors, between 2
        and 8.
    scratch : str or path, optional
        A folder for what does not fit into the memory meanwhile; beside the output, or the usual folder of
        temporary files where that is not local.
    client : distributed.Client, optional
        Lets workers of Dask do the work, each task with one thread and `max_memory` for itself. They must
        reach the sources and the output, which is a folder, a zip file or in a bucket.
    cf_attributes : bool, optional
        Write ``_FillValue``, ``scale_factor``, ``add_offset`` and ``missing_value`` of arrays whose axes all
        have names as xarray reads them, which refuses the lists of one that HDF5 and NetCDF have. Without it
        all attributes stay as they are.
    progress : callable, optional
        Hears a `MaterializeProgress` now and then.
    **options
        As for `RfsStore`.

    Returns
    -------
    MaterializeReport
        Size and stored size of each array that was in files.

    Raises
    ------
    UsageError
        When the layout or the memory does not fit to the arrays; nothing is written then.
    UnsupportedError
        When names of nodes cannot be in an ordinary store; nothing is written then. Of several nodes that
        are refused, for whatever reason, it is `UnsupportedNodesError`, which has all of them.
    OutputError
        When something is at the place already, it cannot be written, or it reads back otherwise.
    OutputBusyError
        When another run is making the same folder.
    SourceChangedError, ReadError
        When a source is not the file that was indexed, or cannot be read.
    """
    _check_options(options)
    settings = Settings(
        verify=verify,
        memory=_checked_memory(max_memory),
        threads=_checked_threads(threads),
        scratch=None if scratch is None else Path(scratch),
        client=client,
        progress=progress,
    )
    place = _place_of(out)
    if client is not None and not place.is_anywhere:
        raise UsageError("workers of Dask cannot write there; out must be a folder, a .zip or s3://")
    with place.held():
        rfs = load_with(refs, options)
        plan = make_plan(rfs, layout_of(layout), options, cf_attributes=cf_attributes)
        run = PlanWriter(plan, place, settings)
        place.begin(_digest(plan))
        try:
            reports = run.write()
            place.finish(verify=verify)
        except (OutputError, ReadError, SourceError) as error:
            raise _advised(error, _advice(error, plan, place, settings)) from error
        except BaseException as error:
            error.add_note(_advice(error, plan, place, settings).removeprefix("; "))
            raise
    return MaterializeReport(
        out=place.name,
        groups=len(plan.nodes) - len(plan.arrays),
        arrays=tuple(reports),
        copied=len(plan.arrays) - len(reports),
        verified=verify,
        left_out=tuple((e["path"], e["kind"], e["reason"]) for e in rfs.get("skipped") or ()),
    )


def _check_options(options: Mapping[str, Any]) -> None:
    if "strict_json" in options:
        raise UsageError("strict_json means nothing here; the new store has strict JSON")
    foreign = sorted(set(options) - set(StoreOptions.__annotations__))
    if foreign:
        raise UsageError(f"materialize has no option {foreign[0]!r}, and RfsStore has none either")


def _checked_memory(memory: int) -> int:
    if not isinstance(memory, int):
        raise UsageError(f"max_memory is {memory!r}; expected a number of bytes")
    if memory < _LEAST_MEMORY:
        raise UsageError(f"max_memory is {memory} bytes; expected {_LEAST_MEMORY:,} or more")
    return memory


def _checked_threads(threads: int | None) -> int:
    if threads is None:
        return min(_MOST_THREADS, max(2, os.process_cpu_count() or 2))
    if not isinstance(threads, int) or threads < 1:
        raise UsageError(f"threads is {threads!r}; expected 1 or more")
    return threads


def _place_of(out: Any) -> Place:
    if isinstance(out, Store):
        return StorePlace(out, str(out))
    if not isinstance(out, str | os.PathLike):
        if hasattr(out, "store") and hasattr(out, "commit"):
            return SessionPlace(out)
        raise UsageError(
            f"{type(out).__name__} is no place for a store; expected a path, a store or a session"
        )
    location = canonical(out)
    if location.startswith("s3://"):
        return StorePlace(bucket_store(location), location, is_anywhere=True)
    if "://" in location:
        raise UsageError(f"{location} is no place for a store here; expected a folder, a .zip or s3://")
    path = Path(location)
    return ZipPlace(path) if path.suffix == ".zip" else FolderPlace(path)


def _digest(plan: Plan) -> str:
    """What tells one run from another that would write something else."""
    digest = hashlib.blake2b(str(plan.store).encode(), digest_size=16)
    digest.update(json.dumps(plan.nodes, sort_keys=True).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _advice(error: BaseException, plan: Plan, place: Place, settings: Settings) -> str:
    """What becomes of what was written; nothing stays that only holds what the references themselves do."""
    own = [f"{array.path}/" if array.path else "" for array in plan.arrays if array.is_held]
    if settings.client is None and place.give_up(own):  # workers of Dask may still be writing
        return ""
    return place.advice(is_changed=isinstance(error, SourceChangedError))


def _advised(error: Exception, advice: str) -> Exception:
    """The same error, with what becomes of what was written."""
    if isinstance(error, ReadError):
        return type(error)(f"{error}{advice}", status=error.status)
    return type(error)(f"{error}{advice}")
