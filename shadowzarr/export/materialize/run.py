"""materialize itself: plan, place, arrays, metadata."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import zarr
from zarr.abc.store import Store

from ...access.locations import canonical
from ...access.watched import working_on
from ...errors import OutputError, ReadError, SourceError, UsageError
from ...store.load_rfs import load_rfs
from .buckets import bucket_store
from .copy_stored import copy_stored
from .fill import is_plain
from .layouts import Layout, layout_of
from .places import FolderPlace, Place, SessionPlace, StorePlace, ZipPlace
from .plan import ArrayPlan, Plan, consolidated, keys_of, make_plan
from .report import ArrayReport, MaterializeProgress, MaterializeReport, Progress
from .rewrite import Counts, Rewriter
from .sweep import Coordinates, Sweep, choose_sweep
from .target import TargetArray, set_document

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
    progress: Progress | None = None,
    **options: Any,
) -> MaterializeReport:
    """Write the values that references point at into an ordinary Zarr store, which needs no sources.

    Groups, attributes and arrays that the references hold are copied as they are. An array whose chunks are
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
        When a node's name cannot be in an ordinary store; nothing is written then.
    OutputError
        When something is at the place already, it cannot be written, or it reads back otherwise.
    OutputBusyError
        When another run is making the same folder.
    SourceChangedError, ReadError
        When a source is not the file that was indexed, or cannot be read.
    """
    if "strict_json" in options:
        raise UsageError("strict_json means nothing here; the new store has strict JSON")
    settings = _Settings(
        verify=verify,
        memory=_checked_memory(max_memory),
        threads=_checked_threads(threads),
        scratch=None if scratch is None else Path(scratch),
        progress=progress,
    )
    place = _place_of(out)
    with place.held():
        rfs = load_rfs(refs, reader=options.get("reader"))
        plan = make_plan(rfs, layout_of(layout), options)
        run = _Run(plan, place, settings)
        place.begin(_digest(plan))
        try:
            reports = run.write()
            place.finish(verify=verify)
        except (OutputError, ReadError, SourceError) as error:
            raise _advised(error, place) from error
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
    progress: Progress | None


def _checked_memory(memory: int) -> int:
    if memory < _LEAST_MEMORY:
        raise UsageError(f"max_memory is {memory} bytes; expected {_LEAST_MEMORY:,} or more")
    return memory


def _checked_threads(threads: int | None) -> int:
    if threads is None:
        return min(_MOST_THREADS, max(2, os.process_cpu_count() or 2))
    if threads < 1:
        raise UsageError(f"threads is {threads}; expected 1 or more")
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
        return StorePlace(bucket_store(location), location)
    if "://" in location:
        raise UsageError(f"{location} is no place for a store here; expected a folder, a .zip or s3://")
    path = Path(location)
    return ZipPlace(path) if path.suffix == ".zip" else FolderPlace(path)


def _digest(plan: Plan) -> str:
    """What tells one run from another that would write something else."""
    digest = hashlib.blake2b(str(plan.store).encode(), digest_size=16)
    digest.update(json.dumps(plan.nodes, sort_keys=True).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _advised(error: Exception, place: Place) -> Exception:
    """The same error, with what becomes of what was written."""
    text = str(error)
    if isinstance(error, ReadError):
        made: Exception = type(error)(f"{text}{place.advice()}", status=error.status)
    else:
        made = type(error)(f"{text}{place.advice()}")
    return made


class _Run:
    """Writes a plan into a place."""

    def __init__(self, plan: Plan, place: Place, settings: _Settings) -> None:
        self._plan = plan
        self._place = place
        self._settings = settings
        self._sweeps = {array.path: self._sweep(array) for array in plan.arrays if array.cut is not None}
        self._progress = _Progress(plan, settings.progress)

    def _sweep(self, array: ArrayPlan) -> Sweep:
        if array.cut is None:
            raise TypeError("this array is not cut anew")
        source = self._source(array)
        try:
            return choose_sweep(
                array.cut,
                threads=self._settings.threads,
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
        small = [array for array in self._plan.arrays if self._is_small(array)]
        reports = dict(self._write_small(small))
        for array in self._plan.arrays:
            if array.path not in reports:
                reports[array.path] = self._write_array(array, self._settings.threads)
        if not self._place.is_metadata_first:
            self._write_metadata()
        return [reports[array.path] for array in self._plan.arrays if not array.is_held]

    def _is_small(self, array: ArrayPlan) -> bool:
        """Whether one thread does an array at once; many of them are then done at the same time."""
        sweep = self._sweeps.get(array.path)
        if sweep is None:
            return len(array.table) <= 1
        return all(extent <= 1 for extent in sweep.grid) and sweep.nbytes <= self._settings.memory

    def _write_small(self, arrays: Iterable[ArrayPlan]) -> Iterable[tuple[str, ArrayReport]]:
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
        target = TargetArray(self._place.store, array.path, array.document, self._place.name)
        if array.cut is None:
            counts = copy_stored(
                self._plan,
                array,
                target,
                present=self._place.present,
                verify=self._settings.verify,
                memory=self._settings.memory // self._settings.threads,
                advance=lambda _: None,
            )
        else:
            counts = self._rewrite(array, target, threads)
        self._progress.finish(array)
        return self._report(array, target, counts)

    def _rewrite(self, array: ArrayPlan, target: TargetArray, threads: int) -> Counts:
        sweep = self._sweeps[array.path]
        sweep = replace(sweep, threads=min(threads, sweep.threads))
        rewriter = Rewriter(
            self._source(array),
            target,
            sweep,
            blocks=_present_blocks(array, sweep),
            present=self._place.present,
            verify=self._settings.verify,
            advance=lambda nbytes: self._progress.advance(array, nbytes),
        )
        rewriter.run(self._settings.scratch or self._place.scratch() or Path(tempfile.gettempdir()))
        return rewriter.counts

    def _report(self, array: ArrayPlan, target: TargetArray, counts: Counts) -> ArrayReport:
        made = target.array
        return ArrayReport(
            path=array.path,
            shape=tuple(made.shape),
            chunks=tuple(made.chunks),
            shards=None if made.shards is None else tuple(made.shards),
            dtype=str(made.dtype),
            how="copied" if array.cut is None else "rewritten",
            nbytes=made.nbytes,
            stored_nbytes=target.stored_nbytes,
            written=counts.written,
            found=counts.found,
            empty=counts.empty,
        )

    def _write_metadata(self) -> None:
        nodes = dict(self._plan.nodes)
        if self._place.store.supports_consolidated_metadata and nodes[""]["node_type"] == "group":
            nodes[""] = consolidated(nodes)
        for path, key in keys_of(nodes):
            if self._settings.verify or key not in self._place.present or not path:
                set_document(self._place.store, path, _dump(nodes[path]), self._place.name)


def _present_blocks(array: ArrayPlan, sweep: Sweep) -> list[Coordinates] | None:
    """The blocks that the references have chunks in; None when they have all chunks."""
    count = 1
    for extent in array.table.grid:
        count *= extent
    if len(array.table) == count:
        return None
    chunks = (tuple(at) for at in array.table.coordinates.tolist())
    return list({block for at in chunks for block in sweep.blocks_of_chunk(at, array.source_chunk)})


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
