"""The four stages of an asset: index, verify, publish, record; each a function of a few small values.

Whoever orchestrates calls them in this order, each perhaps in its own task. The first two hand their
work to a child process; the last two are renames and one small file.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from ..errors import OutputError, ReferencesDifferError, ShadowzarrError
from .archive_address import ArchiveAddress
from .child_pool import ChildPool, JobResult
from .clock import utc_now
from .jobs import (
    INDEX_FUNCTION,
    VERIFY_FUNCTION,
    IndexJob,
    IndexNews,
    IndexResult,
    VerificationOptions,
    VerifyJob,
)
from .layout import OutputLayout
from .libraries import library_versions
from .plan import AssetWork
from .publication_gate import PublicationGate
from .publish import finish_asset, finish_failed, publish_references
from .records import (
    ErrorSummary,
    IndexRecord,
    Outcome,
    RecordCounts,
    SkippedObject,
    Stage,
    StageTime,
    VerificationSummary,
)
from .redo import is_permanent
from .resting import Resting

_QUERY = re.compile(r"""(https?://[^\s?'"]+)\?[^\s'"]*""")
"""Foreign errors quote URLs whole, and a query may hold a signature."""

HDF5_NAMES = (".nwb", ".h5", ".hdf5")
"""How files are called that are read as HDF5 without asking for their first bytes before."""

News = Callable[[AssetWork, IndexNews], None]
Admission = Callable[[AssetWork], AbstractContextManager[Any]]


class Workshop:
    """What all assets of a run share. Not a dataclass: orchestrators look into those.

    A pickled one, in a worker elsewhere, indexes and verifies with a pool of processes there; news are not
    told, and what publishes, or is told of assets that rest, is the one at home.

    Parameters
    ----------
    public, private : OutputLayout
        Outputs of open and of embargoed assets.
    pool : ChildPool
        Where files are read.
    archive : ArchiveAddress
    verification : VerificationOptions
    news : callable, optional
        Called, from any thread, with how far the indexing of an asset is.
    requests : int, optional
        Requests for bytes that one process may have under way.
    admission : callable, optional
        Gives a context in which a file may be read, for limits that others keep.
    """

    def __init__(
        self,
        *,
        public: OutputLayout,
        private: OutputLayout | None,
        pool: ChildPool,
        archive: ArchiveAddress,
        verification: VerificationOptions,
        news: News | None = None,
        requests: int | None = None,
        admission: Admission | None = None,
    ) -> None:
        self.public = public
        self.private = private
        self.pool = pool
        self.archive = archive
        self.verification = verification
        self.news = news
        self.requests = requests
        self._given_admission = admission
        self.admission: Admission = admission or (lambda work: contextlib.nullcontext())
        self.resting = Resting()
        self._gate = PublicationGate()

    def __reduce__(self) -> tuple[Any, ...]:
        values = {
            "public": self.public,
            "private": self.private,
            "pool": self.pool,
            "archive": self.archive,
            "verification": self.verification,
            "requests": self.requests,
            "admission": self._given_admission,
        }
        return _workshop_elsewhere, (values,)

    def publication(self) -> AbstractContextManager[None]:
        """Publish or record inside; a PoolClosedError once the run is stopped."""
        return self._gate.passing()

    def stop(self, *, timeout: float) -> bool:
        """End the processes and let nothing more be published, from any thread.

        Parameters
        ----------
        timeout : float
            Seconds that publications which have begun may take.

        Returns
        -------
        bool
            Whether they have ended, so that nobody uses staging any more.
        """
        has_ended = self._gate.shut(timeout=timeout)
        self.pool.kill()
        return has_ended

    def layout(self, work: AssetWork) -> OutputLayout:
        """Return the output that an asset goes to.

        Raises
        ------
        OutputError
            When the asset is embargoed and there is no private output.
        """
        if not work.private:
            return self.public
        if self.private is None:
            raise OutputError(f"{work.asset.path} is embargoed and there is no private output")
        return self.private


def _workshop_elsewhere(values: dict[str, Any]) -> Workshop:
    return Workshop(**values)


@dataclass(frozen=True)
class Done[T]:
    """What a stage gives, and when it ran."""

    value: T
    time: StageTime


@dataclass(frozen=True)
class Published:
    """Where references are, relative to the output, and what they take."""

    references: str
    nbytes: int
    files: int


@dataclass(frozen=True)
class AssetResults:
    """What the stages of one asset have given so far."""

    indexed: Done[IndexResult] | None = None
    verified: Done[VerificationSummary] | None = None
    published: Done[Published] | None = None

    @property
    def retries(self) -> int:
        """Requests that the stages which ended tried again."""
        indexed = 0 if self.indexed is None else int(self.indexed.value.statistics.get("retries", 0))
        return indexed + (0 if self.verified is None else self.verified.value.retries)

    @property
    def times(self) -> list[StageTime]:
        """Times of the stages that ended."""
        ended = (self.indexed, self.verified, self.published)
        return [done.time for done in ended if done is not None]


def index(workshop: Workshop, work: AssetWork, twin: PurePath | None = None) -> Done[IndexResult]:
    """Make an asset's references in a child process and write them to staging.

    Parameters
    ----------
    workshop : Workshop
    work : AssetWork
    twin : PurePath, optional
        Record of an asset with the same blob.

    Raises
    ------
    ChildFailedError
        When the process was lost.
    ShadowzarrError
        As `shadowzarr.catalog.index_asset.index_asset` raises them.
    """
    layout = workshop.layout(work)
    job = IndexJob(
        url=work.url,
        staged=layout.staged_references(work.asset),
        size=work.asset.size,
        etag=work.asset.source_etag,
        options=work.options,
        archive=workshop.archive,
        twin=None if twin is None else layout.relative(twin),
        output=layout.store,
        local=work.asset.local_path,
        likely="hdf5" if work.asset.path.lower().endswith(HDF5_NAMES) else None,
        requests=workshop.requests,
        is_recording=work.asset.kind == "recording",
    )
    news = workshop.news
    with workshop.admission(work):
        result = workshop.pool.run(
            INDEX_FUNCTION, job, progress=(lambda n: news(work, n)) if news is not None else None
        )
    return _done("index", result)


def verify(workshop: Workshop, work: AssetWork) -> Done[VerificationSummary]:
    """Compare staged references with the file, in a child process.

    Raises
    ------
    ReferencesDifferError
        When they differ.
    ShadowzarrError
        As for `index`.
    """
    staged = workshop.layout(work).staged_references(work.asset)
    job = VerifyJob(
        work.url,
        staged,
        workshop.verification,
        workshop.archive,
        work.asset.local_path,
        workshop.requests,
    )
    with workshop.admission(work):
        result = workshop.pool.run(VERIFY_FUNCTION, job)
    return _done("verify", result)


def publish(workshop: Workshop, work: AssetWork) -> Done[Published]:
    """Give an asset's staged references their final name."""
    layout = workshop.layout(work)
    started, start = utc_now(), time.perf_counter()
    final, nbytes, files = publish_references(layout, work.asset)
    took = StageTime("publish", started, round(time.perf_counter() - start, 4))
    return Done(Published(layout.relative(final), nbytes, files), took)


def record(workshop: Workshop, work: AssetWork, results: AssetResults) -> IndexRecord:
    """Write the record of an asset whose references are published."""
    made = success_record(work, results)
    finish_asset(workshop.layout(work), work.asset, made)
    return made


def publish_and_record(workshop: Workshop, work: AssetWork, results: AssetResults) -> IndexRecord:
    """Publish an asset's references and write its record: one step for whoever pays by the step."""
    with workshop.publication():
        return record(workshop, work, replace(results, published=publish(workshop, work)))


def record_failure(
    workshop: Workshop,
    work: AssetWork,
    results: AssetResults,
    failure: ErrorSummary,
    verification: VerificationSummary | None = None,
) -> IndexRecord:
    """Write the record of an asset that failed; arguments as for `failure_record`."""
    made = failure_record(work, results, failure, verification)
    with workshop.publication():
        finish_failed(workshop.layout(work), work.asset, made)
    return made


def success_record(work: AssetWork, results: AssetResults) -> IndexRecord:
    """Put together what is known of an asset whose references are published."""
    indexed, verified, published = results.indexed, results.verified, results.published
    if indexed is None or published is None:
        raise ValueError("an asset is recorded only when it was indexed and published")
    found = indexed.value
    return _record(
        work,
        results,
        outcome="partial" if found.skipped else "indexed",
        details=_Details(
            counts=found.counts,
            skipped=found.skipped,
            statistics=_with_retries(found.statistics, results.retries),
            repointed_from=found.repointed_from,
            verification=verified.value if verified is not None else None,
            published=published.value,
        ),
    )


def failure_record(
    work: AssetWork,
    results: AssetResults,
    failure: ErrorSummary,
    verification: VerificationSummary | None = None,
) -> IndexRecord:
    """Put together what is known of an asset that failed; ``verification`` when that is why."""
    retries = results.retries + failure.retries + (0 if verification is None else verification.retries)
    details = _Details(error=failure, verification=verification, statistics=_with_retries({}, retries))
    record = _record(work, results, outcome="failed", details=details)
    return replace(record, stages=[*record.stages, StageTime("record", utc_now(), 0.0)])


def error_summary(stage: str, error: BaseException) -> ErrorSummary:
    """Describe an error for a record: a sentence, never a traceback."""
    transient = bool(getattr(error, "transient", False))
    message = _QUERY.sub(r"\1", " ".join(str(error).split())) or "no message"
    if isinstance(error, MemoryError):
        message = f"there is not enough memory to read it ({message})"
    elif not isinstance(error, ShadowzarrError):
        message = f"unexpected {type(error).__name__}: {message}"
    retries = error.retries if isinstance(error, ShadowzarrError) else 0
    return ErrorSummary(stage, type(error).__name__, message, transient, is_permanent(error), retries)


def verification_of(error: BaseException) -> VerificationSummary | None:
    """Return what a verification found that ended in an error."""
    found = error.summary if isinstance(error, ReferencesDifferError) else None
    return found if isinstance(found, VerificationSummary) else None


def _with_retries(statistics: dict[str, float], retries: int) -> dict[str, float]:
    return statistics | {"retries": retries} if retries else statistics


@dataclass(frozen=True)
class _Details:
    counts: RecordCounts = field(default_factory=RecordCounts)
    skipped: list[SkippedObject] = field(default_factory=list)
    statistics: dict[str, float] = field(default_factory=dict)
    repointed_from: str | None = None
    verification: VerificationSummary | None = None
    published: Published | None = None
    error: ErrorSummary | None = None


def _record(work: AssetWork, results: AssetResults, *, outcome: Outcome, details: _Details) -> IndexRecord:
    asset, published = work.asset, details.published
    return IndexRecord(
        asset_id=asset.asset_id,
        dandiset=asset.dandiset,
        version=asset.version,
        path=asset.path,
        etag=asset.etag,
        size=asset.size,
        url=work.url,
        options=work.options.as_json(),
        options_digest=work.key.options_digest,
        format_version=work.key.format_version,
        outcome=outcome,
        private=work.private,
        references=published.references if published is not None else None,
        references_bytes=published.nbytes if published is not None else 0,
        references_files=published.files if published is not None else 0,
        repointed_from=details.repointed_from,
        counts=details.counts,
        skipped=details.skipped,
        verification=details.verification,
        error=details.error,
        statistics=details.statistics,
        stages=results.times,
        libraries=library_versions(),
    )


def _done(stage: Stage, result: JobResult) -> Done[Any]:
    return Done(result.value, StageTime(stage, result.started, result.seconds, result.worker))
