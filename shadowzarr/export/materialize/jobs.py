"""One array, or a part of one that stands by itself, as a job for this process or for a worker of Dask."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr

from ...store.rfs_store import RfsStore
from .copy_stored import copy_stored
from .plan import ArrayPlan
from .rewrite import Advance, Counts, Rewriter
from .sweep import Coordinates, Sweep
from .target import TargetArray

if TYPE_CHECKING:
    from zarr.abc.store import Store

_BLOCKS_OF_A_PART = 20
"""Blocks of a part, at least: two parts may both read the block between them, so that is 5 % at most."""

_CHUNKS_OF_A_PART = 1000
"""Chunks of a part of an array that is copied as it is stored."""


@dataclass(frozen=True)
class Job:
    """What to write, and how. It can be pickled as far as the stores can.

    Attributes
    ----------
    array : ArrayPlan
        The array.
    sweep : Sweep or None
        The way through it; None when its chunks are copied as they are stored.
    target : zarr.abc.store.Store
        Where to.
    place : str
        What messages call that.
    present : container of str
        Keys that an earlier run has written.
    verify : bool
        Whether what is written is read back.
    memory : int
        Bytes to hold at a time.
    scratch : Path
        A folder for what does not fit.
    rows : range or None
        Units along the first axis that are written; None for all.
    """

    array: ArrayPlan
    sweep: Sweep | None
    target: Store
    place: str
    present: Container[str]
    verify: bool
    memory: int
    scratch: Path
    rows: range | None = None


@dataclass(frozen=True)
class Done:
    """What a job did.

    Attributes
    ----------
    counts : Counts
        Chunks or shards.
    stored_nbytes : int
        Bytes that were written.
    """

    counts: Counts
    stored_nbytes: int


def run_job(store: RfsStore, stored: RfsStore, job: Job, advance: Advance | None = None) -> Done:
    """Do a job.

    Parameters
    ----------
    store, stored : RfsStore
        The references, as zarr reads them and as they are stored.
    job : Job
        What to do.
    advance : callable, optional
        Hears how many bytes of values are done.

    Raises
    ------
    ShadowzarrError
        When something cannot be read or written.
    """
    array = job.array
    target = TargetArray(job.target, array.path, array.document, job.place)
    if job.sweep is None:
        counts = copy_stored(stored, array, target, present=job.present, verify=job.verify, memory=job.memory)
        return Done(counts, target.stored_nbytes)
    rewriter = Rewriter(
        zarr.open_array(store, path=array.path, mode="r", zarr_format=3),
        target,
        job.sweep,
        blocks=_present_blocks(array, job.sweep),
        rows=job.rows,
        present=job.present,
        verify=job.verify,
        advance=advance or _nobody,
    )
    rewriter.run(job.scratch)
    return Done(rewriter.counts, target.stored_nbytes)


def parts_of(job: Job, count: int) -> Iterator[Job]:
    """Cut a job into parts that can be done anywhere, in any order.

    Parameters
    ----------
    job : Job
        All of an array.
    count : int
        How many parts are wanted; there may be fewer.
    """
    if job.sweep is None:
        table = job.array.table
        step = max(_CHUNKS_OF_A_PART, -(-len(table) // count))
        for start in range(0, len(table), step):
            chosen = np.arange(start, min(start + step, len(table)))
            yield replace(job, array=replace(job.array, table=table.part(chosen)))
        return
    step = _rows_of_a_part(job.sweep, count)
    rows = job.sweep.cut.units[0] if job.sweep.cut.units else 1
    if step >= rows:
        yield job
        return
    for start in range(0, rows, step):
        yield replace(job, rows=range(start, min(start + step, rows)))


def _rows_of_a_part(sweep: Sweep, count: int) -> int:
    """Units along the first axis, so many that hardly any block is read for two parts."""
    if not sweep.grid:
        return 1
    unit, block = sweep.cut.unit[0], sweep.block[0]
    wanted = -(-sweep.cut.units[0] // count)
    even = math.lcm(unit, block) // unit  # units after which blocks begin anew
    if even <= wanted:
        return wanted // even * even
    return max(wanted, -(-_BLOCKS_OF_A_PART * block // unit))


def _present_blocks(array: ArrayPlan, sweep: Sweep) -> list[Coordinates] | None:
    """The blocks that the references have chunks in; None when they have all chunks."""
    if len(array.table) == math.prod(array.table.grid):
        return None
    chunks = (tuple(at) for at in array.table.coordinates.tolist())
    return list({block for at in chunks for block in sweep.blocks_of_chunk(at, array.source_chunk)})


def _nobody(nbytes: int) -> None:
    """What hears of progress when nobody asked for it."""


def run_in_dask(
    client: Any, store: RfsStore, stored: RfsStore, jobs: list[Job], hear: Callable[[Job, Done], None]
) -> None:
    """Let workers of Dask do jobs.

    Parameters
    ----------
    client : distributed.Client
        Their workers must reach sources, output and scratch folder.
    store, stored : RfsStore
        As for `run_job`; sent to each worker once.
    jobs : list of Job
        What to do.
    hear : callable
        Called with each job and what was done, in their order.

    Raises
    ------
    ShadowzarrError
        The first that a worker met; the others are given up.
    """
    sent = client.scatter([store, stored], broadcast=True)
    futures = [client.submit(run_job, *sent, job, pure=False) for job in jobs]
    try:
        for job, future in zip(jobs, futures, strict=True):
            hear(job, future.result())
    except BaseException:
        client.cancel(futures)
        raise
