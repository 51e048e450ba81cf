"""A plan written into a place: arrays, by threads of this process or workers of Dask, and metadata."""

from __future__ import annotations

import json
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import zarr

from ...access.watched import working_on
from ...errors import UsageError
from ...store.served_metadata import parse_by_zarr
from .fill import is_plain
from .jobs import Done, Job, parts_of, run_in_dask, run_job
from .place import Place
from .plan import ArrayPlan, Plan, consolidated, keys_of
from .refused import Refused
from .report import ArrayReport, MaterializeProgress, Progress
from .sweep import Sweep, choose_sweep
from .target import set_document

_PARTS_OF_A_WORKER = 4


@dataclass(frozen=True)
class Settings:
    """How it is written; as `materialize` takes them."""

    verify: bool
    memory: int
    threads: int
    scratch: Path | None
    client: Any
    progress: Progress | None


class PlanWriter:
    """Writes a plan into a place.

    Parameters
    ----------
    plan : Plan
    place : Place
    settings : Settings

    Raises
    ------
    UsageError
        When arrays do not fit into the memory; `UnsupportedNodesError` when several are refused.
    """

    def __init__(self, plan: Plan, place: Place, settings: Settings) -> None:
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
