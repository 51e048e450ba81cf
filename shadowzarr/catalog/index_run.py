"""A whole run: what is asked for, the steps around the assets, and the summary.

`index_dandisets` runs all of it from a plain script. ``flows`` calls the same steps as tasks.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath

import orjson

from ..errors import MissingDependencyError, OutputError
from ..formatting import format_count
from .asset_window import BlobKey, ThreadStages, known_twins, run_assets
from .assets import CatalogAsset
from .budget import TimeBudget, plan_within
from .child_pool import ChildPool
from .clock import utc_now
from .gone_assets import gone_assets
from .jobs import PRELOAD
from .layout import Listing, OutputLayout, RecordKey
from .libraries import library_versions
from .listing import Lister
from .output_store import output_error
from .parts import clear_parts, held_in_parts, held_part
from .plan import UNCHANGED, AssetWork, Plan, SelectionRules, idle_patterns, make_plan, twins
from .prune import prune_gone
from .publish import clear_staging, remove_empty_staging
from .records import IndexRecord
from .redo import quarantine_by_record
from .request import IndexRequest
from .resolve import ResolvedVersion
from .run_summary import RunSummary, SkippedAsset
from .stages import Admission, News, Workshop
from .tables.update import update_catalog
from .waiting import in_turns


@dataclass
class RunLog:
    """What a run has gathered for its summary.

    Attributes
    ----------
    started : str
        When the run began, UTC.
    start : float
        The same by `time.perf_counter`.
    startup_seconds : float
        How long an orchestrator took to start.
    versions : list of ResolvedVersion
    plan : Plan
    records : list of IndexRecord
        Of the assets that have ended.
    """

    started: str = field(default_factory=utc_now)
    start: float = field(default_factory=time.perf_counter)
    startup_seconds: float = 0.0
    versions: list[ResolvedVersion] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)
    records: list[IndexRecord] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        """Whether an asset has failed."""
        return any(record.outcome == "failed" for record in self.records)


def index_dandisets(
    request: IndexRequest, *, pool: ChildPool | None = None, news: News | None = None
) -> RunSummary:
    """Index dandisets, folders and manifests from a plain script, without an orchestrator.

    Parameters
    ----------
    request : IndexRequest
    pool : ChildPool, optional
        Processes to use, which stay; by default new ones, which end with the run.
    news : callable, optional
        Called, from any thread, with how far the indexing of an asset is.

    Raises
    ------
    ShadowzarrError
        When the run as a whole is impossible. A failing asset ends as a record.
    """
    log = RunLog()
    with output_session(request):
        plan_run(request, log)
        with contextlib.nullcontext(pool) if pool is not None else child_pool(request) as processes:
            workshop = open_workshop(request, processes, news=news)
            with ThreadStages(workshop, request.window) as runner:
                log.records = list(
                    run_assets(
                        ordered_work(request, log.plan),
                        runner,
                        window=request.window,
                        twins=twins_of(request, log.plan),
                        record_path=record_finder(workshop),
                        stop_on_error=request.stop_on_error,
                        per_host=request.limits.assets_of_a_host,
                        time_budget=TimeBudget(log.plan, request.budget),
                    )
                )
        warnings = finish_outputs(request, log)
    return summarise_run(request, log, flow="index_dandisets", warnings=warnings)


@contextlib.contextmanager
def output_session(request: IndexRequest) -> Iterator[None]:
    """Hold the outputs for one run, cleared of what an interrupted run left.

    Raises
    ------
    OutputBusyError
        When another run holds one of them.
    OutputError
        When one cannot be written.
    """
    with contextlib.ExitStack() as stack:
        for layout in request.layouts:
            stack.enter_context(_held(request, layout))
            clear_staging(layout)
            if not (request.in_parts or request.part):
                clear_parts(layout)
        try:
            yield
        finally:
            for layout in request.layouts:
                remove_empty_staging(layout)


def _held(request: IndexRequest, layout: OutputLayout) -> contextlib.AbstractContextManager[None]:
    """An output as this kind of run holds it."""
    if request.part:
        return held_part(layout, request.part)
    return held_in_parts(layout) if request.in_parts else layout.store.held()


def plan_run(request: IndexRequest, log: RunLog) -> None:
    """Find what is wanted, list its assets, and put into the log what has to be done.

    Raises
    ------
    ShadowzarrError
        When that is impossible.
    """
    with Lister(request) as lister:
        log.versions = lister.resolve()
        for version, wanted in zip(log.versions, request.wanted, strict=True):
            assets = list(lister.assets(wanted, version))
            log.plan.extend(plan_version(request, version, assets, wanted.rules))
    keep_to_budget(request, log)


def keep_to_budget(request: IndexRequest, log: RunLog) -> None:
    """Leave out of a plan that is whole what the run's budget does not allow."""
    if request.budget is not None:
        plan_within(log.plan, request.budget)


def ordered_work(request: IndexRequest, plan: Plan) -> list[AssetWork]:
    """Put the work of a plan into the order in which it is done: by the budget's, or dandisets in turns."""
    return list(plan.work) if request.budget is not None else in_turns(plan.work)


def resolve_versions(request: IndexRequest) -> list[ResolvedVersion]:
    """Find what is wanted, without listing it; errors as `Lister.resolve` raises them."""
    with Lister(request) as lister:
        return lister.resolve()


def plan_version(
    request: IndexRequest,
    version: ResolvedVersion,
    assets: Sequence[CatalogAsset],
    rules: SelectionRules,
) -> Plan:
    """Decide what to do about the assets of a version, from a listing of the outputs."""
    place = (version.dandiset, version.version)
    private = request.private
    public_listing = request.public.list_version(*place)
    private_listing = None if private is None else private.list_version(*place)
    plan = make_plan(
        assets,
        rules,
        public=request.public,
        public_listing=public_listing,
        private=private,
        private_listing=private_listing,
        redo=request.redo,
        quarantine=quarantine_by_record(request.redo),
    )
    plan.kept = gone_assets(public_listing, request.public, assets, of=place, fate=request.gone)
    if private is not None and private_listing is not None:
        plan.kept += gone_assets(private_listing, private, assets, of=place, private=True, fate=request.gone)
    plan.warnings = selection_warnings(version, rules, assets)
    return plan


def selection_warnings(
    version: ResolvedVersion, rules: SelectionRules, assets: Sequence[CatalogAsset]
) -> list[str]:
    """Say which patterns match nothing; those of an embargoed dandiset are not shown."""
    where = version.title
    if not assets:
        return [f"{where} has no assets"]
    if not (rules.is_include_own or any(rules.include_asset(asset) for asset in assets)):
        return [f"{where}: no asset matches the default include patterns ({', '.join(rules.include)})"]
    return [
        f"{where}: the {kind} pattern {repr(pattern) if version.is_open else f'at position {position}'} "
        "matches no asset"
        for kind, position, pattern in idle_patterns(rules, assets)
    ]


def child_pool(request: IndexRequest) -> ChildPool:
    """Return the processes in which files are read; not started yet."""
    return ChildPool(
        request.processes,
        timeout=request.timeout,
        memory_limit=request.memory_limit,
        preload=PRELOAD,
    )


def open_workshop(
    request: IndexRequest,
    pool: ChildPool,
    *,
    news: News | None = None,
    admission: Admission | None = None,
    run: str = "",
) -> Workshop:
    """Put together what all assets of the run share.

    The arguments are those of `Workshop`, and ``run`` of `OutputLayout`.
    """
    private = request.private
    return Workshop(
        public=replace(request.public, run=run),
        private=None if private is None else replace(private, run=run),
        pool=pool,
        archive=request.archive,
        verification=request.verification,
        news=news,
        requests=request.limits.requests_each(request.concurrency),
        admission=admission,
    )


def twins_of(request: IndexRequest, plan: Plan) -> dict[BlobKey, PurePath]:
    """Find the records of blobs that were indexed before; looks at nothing when none is of use."""
    if not plan.work or request.redo.force:
        return {}
    private = Listing() if request.private is None else request.private.list_all()
    return known_twins(twins(request.public.list_all()), twins(private))


def record_finder(workshop: Workshop) -> Callable[[AssetWork, IndexRecord], PurePath]:
    """Return a function that tells where the record of an asset lies."""

    def record_path(work: AssetWork, record: IndexRecord) -> PurePath:
        key: RecordKey = work.key
        return workshop.layout(work).record_path(work.asset, key, record.outcome)

    return record_path


def write_skipped(request: IndexRequest, log: RunLog) -> None:
    """Write, beside the references of each version, which assets were passed over and why.

    Unchanged assets have their records and are not named again; embargoed ones are named in the
    private output only.

    Raises
    ------
    OutputError
        When a list cannot be written.
    """
    for version in log.versions:
        of_version = [
            asset
            for asset in log.plan.skipped
            if (asset.dandiset, asset.version) == (version.dandiset, version.version)
            and asset.reason != UNCHANGED
        ]
        _write_list(request.public, version, [asset for asset in of_version if not asset.private])
        if request.private is not None:
            _write_list(request.private, version, [asset for asset in of_version if asset.private])


def finish_outputs(request: IndexRequest, log: RunLog) -> list[str]:
    """Leave the outputs as a run leaves them, and say what stood in the way of what is derived from them.

    Raises
    ------
    OutputError
        When something cannot be written or removed.
    """
    prune_gone(log.plan.kept, public=request.public, private=request.private)
    write_skipped(request, log)
    return update_catalogs(request)


def update_catalogs(request: IndexRequest) -> list[str]:
    """Bring the catalogues of the outputs up to date, and say what stands in the way.

    They are derived from what the outputs hold, so a run that did its work does not fail by them.
    """
    warnings = []
    for layout in request.layouts:
        is_private = layout == request.private
        option = " --private" if is_private else ""
        rebuild = f"python -m flows catalog rebuild {layout.title}{option}"
        try:
            update = update_catalog(layout, is_private=is_private)
        except (OutputError, MissingDependencyError) as error:
            warnings.append(
                f"the catalogue is not up to date: {error}; after that, {rebuild} brings it up to date"
            )
            continue
        # Names of embargoed assets stay out of what a run says; rebuilding tells them.
        problems = [] if is_private else update.problems
        warnings += [f"catalogue: {problem}" for problem in problems]
        if is_private and update.problems:
            count = format_count(len(update.problems), "record")
            warnings.append(f"private catalogue: {count} could not be read whole; {rebuild} names them")
        if update.left_out:
            count = format_count(update.left_out, "record")
            warnings.append(
                f"the public output holds {count} of embargoed assets, which its catalogue leaves out; they "
                "belong into private_output"
            )
    return warnings


def summarise_run(
    request: IndexRequest,
    log: RunLog,
    *,
    flow: str,
    config_path: str = "",
    config_digest: str = "",
    warnings: Sequence[str] = (),
) -> RunSummary:
    """Put together what the run has done."""
    return RunSummary(
        flow=flow,
        config_digest=config_digest,
        config_path=config_path,
        archive=request.archive.api_url if request.dandisets else "",
        output=str(request.output),
        dandisets=[(version.dandiset, version.version) for version in log.versions],
        started=log.started,
        finished=utc_now(),
        seconds=round(time.perf_counter() - log.start, 3),
        versions=library_versions(),
        records=log.records,
        skipped=log.plan.skipped,
        not_started=len(log.plan.work) - len(log.records),
        left_out_before=log.plan.left_out_before,
        warnings=[*warnings, *log.plan.warnings],
        kept=log.plan.kept,
        startup_seconds=round(log.startup_seconds, 3),
    )


def _write_list(layout: OutputLayout, version: ResolvedVersion, skipped: list[SkippedAsset]) -> None:
    path = layout.skipped_path(version.dandiset, version.version)
    name = layout.relative(path)
    if skipped:
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        content = orjson.dumps([asdict(asset) for asset in skipped], option=options)
        layout.store.write(name, content, scratch=layout.staging)
        return
    try:
        layout.store.remove([name])
    except OSError as error:
        raise output_error(f"cannot remove {layout.location(path)}", error) from error
