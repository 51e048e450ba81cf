"""The stages of a recording: headers, write, validate, verify, store, publish; small values in and out.

Whoever orchestrates calls them in this order, each perhaps in its own task. All but the last hand their
work to a child process. An NWB file in memory and references never travel: building and writing are one
stage.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..catalog import stages as catalog_stages
from ..catalog.assets import CatalogAsset
from ..catalog.child_pool import JobResult
from ..catalog.clock import utc_now
from ..catalog.folder_output import remove
from ..catalog.jobs import IndexResult
from ..catalog.layout import layout_at
from ..catalog.output_store import output_error
from ..catalog.plan import AssetWork
from ..catalog.publish import finish_asset, finish_failed, withdraw_records
from ..catalog.records import ErrorSummary, IndexRecord, StageTime, VerificationSummary
from ..catalog.stages import AssetResults, Done, Workshop
from ..errors import SourceChangedError
from ..relocation import point_files
from .hosting import url_for_hosts
from .jobs import (
    READ_FUNCTION,
    STORE_FUNCTION,
    VALIDATE_FUNCTION,
    VERIFY_FUNCTION,
    WRITE_FUNCTION,
    HeaderFacts,
    RecordingJob,
    StoreFacts,
    WrittenFacts,
)
from .plan import metadata_digests, store_path
from .request import ConversionRules, Recording
from .sources import recording_asset

STAGES = ("headers", "write", "validate", "verify", "store")
"""Stages before publishing, in their order; names of functions are `FUNCTIONS`."""


class ConversionBench:
    """What all recordings of a run share. Not a dataclass: orchestrators look into those.

    Parameters
    ----------
    workshop : Workshop
        Output, processes and verification.
    rules : ConversionRules
    recordings : mapping of str to Recording
        By the paths of their NWB files.
    """

    def __init__(
        self, workshop: Workshop, rules: ConversionRules, recordings: Mapping[str, Recording]
    ) -> None:
        self.workshop = workshop
        self.rules = rules
        self.recordings = recordings

    def job(self, work: AssetWork) -> RecordingJob:
        """What a process is told of a recording."""
        layout = self.workshop.layout(work)
        recording = self.recordings[work.asset.path]
        verification = self.workshop.verification
        out = store_path(self.rules, recording)
        return RecordingJob(
            recording=recording,
            identifier=f"{work.asset.asset_id}-{work.asset.etag[:12]}",
            staged=layout.staged_references(work.asset),
            strict=self.rules.strict,
            mode=verification.mode,
            seed=verification.seed,
            critical=self.rules.critical,
            store=self.rules.store,
            store_path=None
            if self.rules.stores is None or out is None
            else layout_at(self.rules.stores).staging_folder(work.asset) / out.name,
        )


@dataclass(frozen=True)
class ConversionResults:
    """What the stages of one recording have given so far, by their names."""

    done: Mapping[str, Done[Any]] = field(default_factory=dict)

    def having(self, stage: str, done: Done[Any]) -> ConversionResults:
        """The same with one more."""
        return ConversionResults({**self.done, stage: done})

    @property
    def times(self) -> list[StageTime]:
        """Times of the stages that ended."""
        return [done.time for done in self.done.values()]


def read_headers(bench: ConversionBench, work: AssetWork) -> Done[HeaderFacts]:
    """Open the files of a recording by NeuroConv's interfaces, and check the metadata.

    Raises
    ------
    ShadowzarrError
        As `shadowzarr.conversion.read_headers.read_headers` raises them, and when the process was lost.
    """
    return _run(bench, work, "headers", READ_FUNCTION)


def write_virtual_nwb(bench: ConversionBench, work: AssetWork) -> Done[WrittenFacts]:
    """Let NeuroConv build the NWB file, and write it as references to staging; errors as its job's."""
    return _run(bench, work, "write", WRITE_FUNCTION)


def validate_nwb(bench: ConversionBench, work: AssetWork) -> Done[list[str]]:
    """Judge staged references by NWB's rules; errors as its job's."""
    return _run(bench, work, "validate", VALIDATE_FUNCTION)


def verify_nwb(bench: ConversionBench, work: AssetWork) -> Done[VerificationSummary]:
    """Compare staged references with what NeuroConv's readers give; errors as its job's."""
    return _run(bench, work, "verify", VERIFY_FUNCTION)


def write_store(bench: ConversionBench, work: AssetWork) -> Done[StoreFacts]:
    """Write the ordinary NWB file to staging; errors as its job's."""
    return _run(bench, work, "store", STORE_FUNCTION)


def publish_nwb(bench: ConversionBench, work: AssetWork, results: ConversionResults) -> IndexRecord:
    """Point references at where the recording is hosted, give all its name, and write the record last.

    Raises
    ------
    SourceChangedError
        When a file changed since the run began, or another one is hosted.
    ShadowzarrError
        As `point_files` raises them, and when it cannot be published.
    """
    started, start = utc_now(), time.perf_counter()
    _check_unchanged(bench, work)
    if bench.rules.hosts:
        staged = bench.workshop.layout(work).staged_references(work.asset)
        point_files(staged, url_for_hosts(bench.rules.hosts), check=bench.rules.check_hosts)
    with bench.workshop.publication():
        _publish_store(bench, work)
        published = catalog_stages.publish(bench.workshop, work)
        took = StageTime("publish", started, round(time.perf_counter() - start, 4))
        record = _record(work, results, replace(published, time=took))
        finish_asset(bench.workshop.layout(work), work.asset, record)
        return record


def record_failure(
    bench: ConversionBench,
    work: AssetWork,
    results: ConversionResults,
    failure: ErrorSummary,
    verification: VerificationSummary | None = None,
) -> IndexRecord:
    """Write the record of a recording that failed; references of an earlier state stay as they are."""
    record = failure_record(work, results, failure, verification)
    with bench.workshop.publication():
        finish_failed(bench.workshop.layout(work), work.asset, record)
        _clear_store(bench, work.asset)
        return record


def failure_record(
    work: AssetWork,
    results: ConversionResults,
    failure: ErrorSummary,
    verification: VerificationSummary | None = None,
) -> IndexRecord:
    """Put together what is known of a recording that failed; ``verification`` when that is why."""
    record = catalog_stages.failure_record(work, AssetResults(), failure, verification)
    return replace(record, stages=[*results.times, *record.stages])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "headers": read_headers,
    "write": write_virtual_nwb,
    "validate": validate_nwb,
    "verify": verify_nwb,
    "store": write_store,
    "publish": publish_nwb,
    "record": record_failure,
}
"""The function of each stage, and that of a failure."""


def _run(bench: ConversionBench, work: AssetWork, stage: str, function: str) -> Done[Any]:
    result: JobResult = bench.workshop.pool.run(function, bench.job(work))
    return Done(result.value, StageTime(stage, result.started, result.seconds, result.worker))


def _check_unchanged(bench: ConversionBench, work: AssetWork) -> None:
    recording = bench.recordings[work.asset.path]
    now = recording_asset(work.asset.dandiset, recording)
    planned = work.options.as_json()["metadata"]
    if now.etag != work.asset.etag or metadata_digests(recording) != planned:
        raise SourceChangedError(
            f"files of {work.asset.path} changed while it was converted; run again when they are complete"
        )


def _publish_store(bench: ConversionBench, work: AssetWork) -> None:
    """Give the ordinary file its name, in place of an earlier one, which no record describes then."""
    staged = bench.job(work).store_path
    final = store_path(bench.rules, bench.recordings[work.asset.path])
    if staged is None or final is None or bench.rules.stores is None:
        return
    stores = layout_at(bench.rules.stores)
    try:
        withdraw_records(bench.workshop.layout(work), work.asset)
        stores.store.adopt(staged, stores.relative(final), is_final=True)
    except OSError as error:
        raise output_error(f"cannot publish {final}", error) from error
    _clear_store(bench, work.asset)


def _clear_store(bench: ConversionBench, asset: CatalogAsset) -> None:
    """Remove what was staged of an ordinary file; the next run clears what cannot be."""
    if bench.rules.stores is not None:
        with contextlib.suppress(OSError):
            remove(layout_at(bench.rules.stores).staging_folder(asset))


def _record(work: AssetWork, results: ConversionResults, published: Done[Any]) -> IndexRecord:
    """Put together what is known of a recording whose references are published."""
    written: Done[WrittenFacts] = results.done["write"]
    facts = written.value
    store: StoreFacts | None = results.done["store"].value if "store" in results.done else None
    statistics: dict[str, float] = {
        "referenced_bytes": facts.referenced_bytes,
        "build_seconds": facts.build_seconds,
        "write_seconds": facts.write_seconds,
    }
    if store is not None:
        statistics["store_bytes"] = store.nbytes
    indexed = Done(
        IndexResult(replace(facts.counts, converted=len(facts.copied)), [], statistics), written.time
    )
    record = catalog_stages.success_record(work, AssetResults(indexed, results.done.get("verify"), published))
    return replace(record, remarks=_remarks(facts, results), stages=[*results.times, published.time])


def _remarks(facts: WrittenFacts, results: ConversionResults) -> list[str]:
    copied = [f"copied, not referenced: {place}: {reason}" for place, reason in sorted(facts.copied.items())]
    validated = results.done.get("validate")
    critical: list[str] = [] if validated is None else validated.value
    return copied + [f"nwbinspector: {each}" for each in critical]
