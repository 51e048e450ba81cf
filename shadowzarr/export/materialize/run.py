"""materialize itself: plan, place, arrays, metadata."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import zarr
from zarr.abc.store import Store

from ...access.locations import canonical
from ...access.watched import working_on
from ...errors import OutputError, ReadError, SourceChangedError, SourceError, UsageError
from ...store.served_metadata import parse_by_zarr
from ...store.store_options import StoreOptions, load_with
from .buckets import bucket_store
from .fill import is_plain
from .jobs import Done, Job, parts_of, run_in_dask, run_job
from .layouts import Layout, layout_of
from .places import FolderPlace, Place, SessionPlace, StorePlace, ZipPlace
from .plan import ArrayPlan, Plan, consolidated, keys_of, make_plan
from .refused import Refused
from .report import ArrayReport, MaterializeProgress, MaterializeReport, Progress
from .sweep import Sweep, choose_sweep
from .target import set_document

MAX_MEMORY = 2**30
"""Bytes of data that are held at a time, whatever the size of an array."""

_MOST_THREADS = 8
_LEAST_MEMORY = 2**20
_PARTS_OF_A_WORKER = 4


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
    settings = _Settings(
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
        run = _Run(plan, place, settings)
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


@dataclass(frozen=True)
class _Settings:
    verify: bool
    memory: int
    threads: int
    scratch: Path | None
    client: Any
    progress: Progress | None


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


def _advice(error: BaseException, plan: Plan, place: Place, settings: _Settings) -> str:
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


class _Run:
    """Writes a plan into a place."""

    def __init__(self, plan: Plan, place: Place, settings: _Settings) -> None:
        self._plan = plan
        self._place = place
        self._settings = settings
        self._sweeps: dict[str, Sweep] = {}
        refused = Refused()
        for array in plan.arrays:
            if array.cut is not None:
                with refused.noting(array.path):
                    self._sweeps[array.path] = self._sweep(array)
        refused.raise_if_any()
        self._progress = _Progress(plan, settings.progress)

    def _sweep(self, array: ArrayPlan) -> Sweep:
        if array.cut is None:
            raise TypeError("this array is not cut anew")
        source = self._source(array)
        try:
            return choose_sweep(
                array.cut,
                threads=1 if self._settings.client is not None else self._settings.threads,
                memory=self._settings.memory,
                can_spill=is_plain(source.dtype),
            )
        except UsageError as error:
            raise UsageError(f"array {'/' + array.path!r}: {error}") from error

    def _source(self, array: ArrayPlan) -> Any:
        return zarr.open_array(self._plan.store, path=array.path, mode="r", zarr_format=3)

    def write(self) -> list[ArrayReport]:
        """Write all arrays, and the metadata of all nodes before or after them."""
        if self._place.is_metadata_first:
            self._write_metadata()
        client = self._settings.client
        reports = dict(self._write_here() if client is None else self._write_in_dask(client))
        if not self._place.is_metadata_first:
            self._write_metadata()
        return [reports[array.path] for array in self._plan.arrays if not array.is_held]

    def _write_here(self) -> Iterator[tuple[str, ArrayReport]]:
        small = [array for array in self._plan.arrays if self._is_small(array)]
        yield from self._write_small(small)
        names = {array.path for array in small}
        for array in self._plan.arrays:
            if array.path not in names:
                yield array.path, self._write_array(array, self._settings.threads)

    def _is_small(self, array: ArrayPlan) -> bool:
        """Whether one thread does an array at once; many of them are then done at the same time."""
        sweep = self._sweeps.get(array.path)
        if sweep is None:
            return len(array.table) <= 1
        return all(extent <= 1 for extent in sweep.grid)

    def _write_small(self, arrays: Iterable[ArrayPlan]) -> Iterator[tuple[str, ArrayReport]]:
        with ThreadPoolExecutor(self._settings.threads, "shadowzarr-materialize") as pool:
            futures = {array.path: pool.submit(self._write_array, array, 1) for array in arrays}
            try:
                for path, future in futures.items():
                    yield path, future.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _write_array(self, array: ArrayPlan, threads: int) -> ArrayReport:
        working_on(f"/{array.path}")
        done = run_job(
            self._plan.store,
            self._plan.stored,
            self._job(array, threads),
            lambda nbytes: self._progress.advance(array, nbytes),
        )
        self._progress.finish(array)
        return _report(array, [done])

    def _job(self, array: ArrayPlan, threads: int) -> Job:
        sweep = self._sweeps.get(array.path)
        return Job(
            array=array,
            sweep=None if sweep is None else replace(sweep, threads=min(threads, sweep.threads)),
            target=self._place.store,
            place=self._place.name,
            present=self._place.present,
            verify=self._settings.verify,
            memory=self._settings.memory // threads,
            scratch=self._settings.scratch or self._place.scratch() or Path(tempfile.gettempdir()),
        )

    def _write_in_dask(self, client: Any) -> Iterator[tuple[str, ArrayReport]]:
        count = _PARTS_OF_A_WORKER * max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        jobs = [part for array in self._plan.arrays for part in parts_of(self._job(array, 1), count)]
        done: dict[str, list[Done]] = {array.path: [] for array in self._plan.arrays}
        left = Counter(job.array.path for job in jobs)

        def hear(job: Job, what: Done) -> None:
            done[job.array.path].append(what)
            left[job.array.path] -= 1
            if not left[job.array.path]:
                self._progress.finish(job.array)

        run_in_dask(client, self._plan.store, self._plan.stored, jobs, hear)
        for array in self._plan.arrays:
            yield array.path, _report(array, done[array.path])

    def _write_metadata(self) -> None:
        nodes = dict(self._plan.nodes)
        if self._place.store.supports_consolidated_metadata and nodes[""]["node_type"] == "group":
            nodes[""] = consolidated(nodes)
        for path, key in keys_of(nodes):
            if self._settings.verify or key not in self._place.present or not path:
                set_document(self._place.store, path, _dump(nodes[path]), self._place.name)


def _report(array: ArrayPlan, done: Sequence[Done]) -> ArrayReport:
    made: Any = parse_by_zarr(array.document, array.path)
    return ArrayReport(
        path=array.path,
        shape=tuple(made.shape),
        chunks=tuple(made.chunks),
        shards=None if made.shards is None else tuple(made.shards),
        dtype=str(made.dtype.to_native_dtype()),
        how="copied" if array.cut is None else "rewritten",
        nbytes=array.nbytes,
        stored_nbytes=sum(each.stored_nbytes for each in done),
        written=sum(each.counts.written for each in done),
        found=sum(each.counts.found for each in done),
        empty=sum(each.counts.empty for each in done),
    )


def _dump(document: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # what is no Unicode text remains when it is escaped
        return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


class _Progress:
    """Adds up what is done, and tells it."""

    def __init__(self, plan: Plan, hear: Progress | None) -> None:
        self._hear = hear
        self._lock = threading.Lock()
        self._total = sum(array.nbytes for array in plan.arrays)
        self._count = len(plan.arrays)
        self._done = self._arrays = 0
        self._of: dict[str, int] = {}

    def advance(self, array: ArrayPlan, nbytes: int) -> None:
        with self._lock:
            self._of[array.path] = self._of.get(array.path, 0) + nbytes
            self._done += nbytes
            self._tell(array.path)

    def finish(self, array: ArrayPlan) -> None:
        with self._lock:
            self._done += array.nbytes - self._of.pop(array.path, 0)
            self._arrays += 1
            self._tell(array.path)

    def _tell(self, path: str) -> None:
        if self._hear is not None:
            self._hear(MaterializeProgress(path, self._done, self._total, self._arrays, self._count))
