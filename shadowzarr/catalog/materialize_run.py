"""Assets materialized: each store written, published and recorded; what is done is not done again.

A store in a folder, and a zip file, is made in the destination's workings and renamed (or put) when it is
whole. Below a prefix of a bucket it is written in place, its root's metadata last, so that there is nothing
to open before; one of another state is removed first. In each case a run that ended early is gone on with.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..access import s3_locations
from ..errors import InvalidReferencesError
from ..replacing import EARLIER
from .archive_address import ArchiveAddress
from .child_pool import ChildPool
from .clock import utc_now
from .folder_output import remove
from .in_flight import ThreadRunner, run_in_window
from .layout import OutputLayout, parse_record_name
from .materialize_job import FUNCTION, MaterializeJob
from .materialize_plan import SUFFIXES, MaterializePlan, MaterializeWork
from .materialize_record import MaterializeRecord, MaterializeSummary, StoreFacts, failure, success
from .output_store import output_error
from .request import SPARE_ASSETS

SUMMARY_NAME = "materialized.json"
_BEGUN = ".shadowzarr/begun"


@dataclass(frozen=True)
class MaterializeBench:
    """What all assets of a run share; ``verify`` and ``max_memory`` as for `MaterializeJob`."""

    pool: ChildPool
    archive: ArchiveAddress
    verify: bool = True
    max_memory: int = 2**30


@dataclass(frozen=True)
class Ended:
    """An asset and its record."""

    work: MaterializeWork
    record: MaterializeRecord


def materialize_assets(
    plan: MaterializePlan,
    bench: MaterializeBench,
    target: OutputLayout,
    *,
    concurrency: int,
    on_ended: Callable[[MaterializeRecord], None] = lambda record: None,
) -> MaterializeSummary:
    """Materialize what is planned from a plain script, without an orchestrator.

    Parameters
    ----------
    plan : MaterializePlan
    bench : MaterializeBench
    target : OutputLayout
        The destination.
    concurrency : int
        Assets that are worked on at once.
    on_ended : callable
        Called with the record of each asset that has ended.

    Raises
    ------
    OutputBusyError
        When another run writes to the destination.
    OutputError
        When that cannot be written. A failing asset ends as a record.
    """
    summary, started = MaterializeSummary(plan), utc_now()
    with materialize_session(plan, target):
        run = partial(materialize_asset, bench)
        with ThreadRunner(run, failed_asset, threads=concurrency) as runner:
            for ended in run_in_window(plan.work, runner, window=concurrency + SPARE_ASSETS):
                summary.records.append(keep(ended))
                on_ended(ended.record)
        write_summary(summary, target, started=started)
    return summary


@contextlib.contextmanager
def materialize_session(plan: MaterializePlan, target: OutputLayout) -> Iterator[None]:
    """Hold the destination for one run, and clear what is of no use of what earlier ones left."""
    with target.store.held():
        wanted = {work.digest for work in plan.work}
        room = _room(target)
        try:
            for item in room.iterdir() if room.is_dir() else ():
                if item.name not in wanted:
                    remove(item)
        except OSError as error:
            raise output_error(f"cannot clear {room}", error) from error
        yield
        with contextlib.suppress(OSError):  # it holds unfinished work
            room.rmdir()


def materialize_asset(bench: MaterializeBench, work: MaterializeWork) -> Ended:
    """Write the store of one asset in a child process, publish and record it.

    Raises
    ------
    ShadowzarrError
        When that is impossible; what is written so far is gone on with by the same call.
    """
    started, start = utc_now(), time.perf_counter()
    with work.source.store.local_copy(str(work.record.references)) as references:
        if not references.exists():
            raise InvalidReferencesError(f"{work.source.store.location(str(work.record.references))} is gone")
        job = MaterializeJob(
            references=references,
            out=_room(work.target) / work.digest / f"store{SUFFIXES[work.options.form]}",
            layout=work.options.layout,
            verify=bench.verify,
            max_memory=bench.max_memory,
            archive=bench.archive,
        )
        is_in_place = work.target.bucket is not None and work.options.form == "folder"
        facts = _write_in_place(bench, work, job) if is_in_place else _write_apart(bench, work, job)
    record = success(work, facts, started=started, seconds=round(time.perf_counter() - start, 3))
    scratch = _room(work.target) / work.digest
    work.target.store.write(work.record_name(record.outcome), record.content, scratch=scratch)
    _clear(work, kept=work.record_name(record.outcome))
    return Ended(work, record)


def failed_asset(work: MaterializeWork, error: BaseException) -> Ended:
    """Say what an error means for an asset; nothing is written (`keep`)."""
    return Ended(work, failure(work, error, started=utc_now()))


def keep(ended: Ended) -> MaterializeRecord:
    """Write the record of an asset when it failed; a store of an earlier state stays as it is.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    work, record = ended.work, ended.record
    if record.outcome == "failed":
        store, name = work.target.store, work.record_name("failed")
        store.write(name, record.content, scratch=_room(work.target) / work.digest)
        store.remove(each for each in _records(work, is_failure=True) if each != name)
    return record


def write_summary(summary: MaterializeSummary, target: OutputLayout, *, started: str) -> None:
    """Write what the run has done into the destination."""
    content = summary.content(started=started, finished=utc_now())
    target.store.write(SUMMARY_NAME, content, scratch=target.staging)
    with contextlib.suppress(OSError):  # not empty, or made by another meanwhile
        target.staging.rmdir()


def _write_apart(bench: MaterializeBench, work: MaterializeWork, job: MaterializeJob) -> StoreFacts:
    """Write the store into the workings, then give it its name."""
    store = work.target.store
    try:
        job.out.parent.mkdir(parents=True, exist_ok=True)
        remove(job.out)  # whole, but not published: nothing tells what is in it; or the one of before
        remove(job.out.with_name(job.out.name + EARLIER))
    except OSError as error:
        raise output_error(f"cannot write {job.out}", error) from error
    facts: StoreFacts = bench.pool.run(FUNCTION, job).value
    try:
        store.remove(_records(work))
        store.adopt(job.out, work.store, is_final=work.target.bucket is None)
    except OSError as error:
        raise output_error(f"cannot publish {store.location(work.store)}", error) from error
    return facts


def _write_in_place(bench: MaterializeBench, work: MaterializeWork, job: MaterializeJob) -> StoreFacts:
    """Write the store below its prefix; what is there of another state goes before."""
    bucket = work.target.bucket
    if bucket is None:
        raise TypeError("this destination is no bucket")
    if not _can_go_on(work):
        bucket.remove([*_records(work), work.store])
        bucket.write(_note(work), work.digest.encode(), scratch=job.out)
    own = replace(
        bucket,
        prefix=f"{bucket.prefix}/{work.store}".lstrip("/"),
        endpoint=bucket.endpoint or s3_locations.endpoint(),
    )
    in_place = replace(job, bucket=own, scratch=job.out.with_name("scratch"))
    facts: StoreFacts = bench.pool.run(FUNCTION, in_place).value
    return facts


def _note(work: MaterializeWork) -> str:
    """Where it is noted which state of an asset is being written in place."""
    return f"{_BEGUN}/{hashlib.sha256(work.store.encode()).hexdigest()[:32]}"


def _can_go_on(work: MaterializeWork) -> bool:
    """Whether what is there is unfinished, and of this state; of a store that is whole nothing tells more."""
    from ..export.materialize.place import NOTE

    try:
        is_same = work.target.store.read(_note(work)) == work.digest.encode()
    except FileNotFoundError:
        return False
    return is_same and work.target.store.exists(f"{work.store}/{NOTE}")


def _clear(work: MaterializeWork, *, kept: str) -> None:
    """Remove what the record that was just written makes superfluous."""
    others = [work.place + suffix for suffix in SUFFIXES.values() if work.place + suffix != work.store]
    work.target.store.remove([*(name for name in _records(work) if name != kept), *others])
    if work.target.bucket is not None:
        work.target.store.remove([_note(work)])
    shutil.rmtree(_room(work.target) / work.digest, ignore_errors=True)


def _records(work: MaterializeWork, *, is_failure: bool | None = None) -> list[str]:
    """Names of the records that lie beside the store."""
    stem = work.place.rpartition("/")[2]
    found = []
    for file in work.target.store.files(f"{work.place}.", closed=SUFFIXES["folder"]):
        parsed = parse_record_name(file.name.rpartition("/")[2])
        if parsed is not None and parsed[0] == stem and is_failure in (None, parsed[2] == "failed"):
            found.append(file.name)
    return found


def _room(target: OutputLayout) -> Path:
    return target.workings / "materializing"
