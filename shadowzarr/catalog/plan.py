"""Which assets have to be done, and why the others need not: a pure function of listings and rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

from ..refs.document import FORMAT_VERSION
from .asset_names import folded, identity_problem, path_problem
from .assets import CatalogAsset
from .globs import matches_any
from .layout import ListedRecord, Listing, OutputLayout, RecordKey
from .options import ReferenceOptions
from .redo import Quarantine, RedoRules
from .run_summary import LEFT_FOR_LATER, QUARANTINED, KeptResult, SkippedAsset

UNCHANGED = "unchanged"
NOT_NWB = "not NWB"
ALREADY_ZARR = "already Zarr"
LIMIT = "limit"
EXCLUDED = "excluded"
OTHER_FORMAT = "another format"
EMBARGOED = "embargoed"
UNUSABLE_PATH = "unusable path"
UNUSABLE_IDENTITY = "unusable identity"
NO_ETAG = "no ETag yet"
NOT_FAILED = "did not fail"
NOT_SINCE = "not modified since"
REASONS = (
    UNCHANGED,
    NOT_NWB,
    ALREADY_ZARR,
    LIMIT,
    EXCLUDED,
    OTHER_FORMAT,
    EMBARGOED,
    UNUSABLE_PATH,
    UNUSABLE_IDENTITY,
    NO_ETAG,
    QUARANTINED,
    NOT_FAILED,
    NOT_SINCE,
    LEFT_FOR_LATER,
)
"""Why an asset is passed over."""

Cause = Literal["new", "changed", "other options", "failed before", "forced"]
DEFAULT_INCLUDE = ("**/*.nwb",)


@dataclass(frozen=True)
class SelectionRules:
    """Which assets of one dandiset are wanted.

    Attributes
    ----------
    include, exclude : tuple of str
        Glob patterns over asset paths; an asset is wanted when one of the first matches and none
        of the second.
    limit : int, optional
        At most so many wanted assets, the first by path.
    is_include_own : bool
        Whether somebody chose the patterns of ``include``, and expects each to match something.
    recordings : bool
        Whether recordings are wanted too that no include pattern matches.
    """

    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = ()
    limit: int | None = None
    is_include_own: bool = True
    recordings: bool = False

    def include_asset(self, asset: CatalogAsset) -> bool:
        """Whether an asset is wanted, unless it is excluded."""
        return matches_any(asset.path, self.include) or (self.recordings and asset.kind == "recording")


@dataclass(frozen=True)
class AssetWork:
    """One asset to be done.

    Attributes
    ----------
    asset : CatalogAsset
    url : str
        The URL that its references will use.
    options : ReferenceOptions
    key : RecordKey
        What its record will be named by.
    cause : str
        Why it has to be done.
    private : bool
        Whether it goes to the private output.
    """

    asset: CatalogAsset
    url: str
    options: ReferenceOptions
    key: RecordKey
    cause: Cause
    private: bool = False

    @property
    def label(self) -> str:
        """What it is called where others may look, such as in an orchestrator: no path that is private."""
        return self.asset.asset_id if self.private else self.asset.path


@dataclass
class Plan:
    """What a run will do.

    Attributes
    ----------
    work : list of AssetWork
        In the order of their dandisets and paths.
    skipped : list of SkippedAsset
        Everything else, with the reason.
    left_out_before : int
        Unchanged assets whose references leave objects out.
    kept : list of KeptResult
        Results whose assets are no longer in their version.
    warnings : list of str
        What may be a mistake in the rules.
    """

    work: list[AssetWork] = field(default_factory=list)
    skipped: list[SkippedAsset] = field(default_factory=list)
    left_out_before: int = 0
    kept: list[KeptResult] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def work_bytes(self) -> int:
        """Bytes of the source files to be indexed."""
        return sum(work.asset.size for work in self.work)

    def extend(self, other: Plan) -> None:
        """Append another plan's work."""
        self.work.extend(other.work)
        self.skipped.extend(other.skipped)
        self.left_out_before += other.left_out_before
        self.kept.extend(other.kept)
        self.warnings.extend(other.warnings)


def make_plan(
    assets: Iterable[CatalogAsset],
    rules: SelectionRules,
    *,
    public: OutputLayout,
    public_listing: Listing,
    private: OutputLayout | None = None,
    private_listing: Listing | None = None,
    redo: RedoRules | None = None,
    quarantine: Callable[[OutputLayout, PurePath], Quarantine | None] = lambda layout, record: None,
) -> Plan:
    """Decide what to do about each asset of one version.

    Parameters
    ----------
    assets : iterable of CatalogAsset
        All assets of the version.
    rules : SelectionRules
        Which are wanted.
    public, private : OutputLayout
        Where open and embargoed assets go; without a private output, embargoed assets are passed over.
    public_listing, private_listing : Listing
        What lies there already.
    redo : RedoRules, optional
        What is done that was done or tried before.
    quarantine : callable, optional
        Says of the record of a failure whether its asset is passed over.
    """
    plan = Plan()
    decide = _Decision(redo or RedoRules(), quarantine)
    taken = 0
    same_place = _SamePlace()
    for asset in sorted(assets, key=lambda asset: asset.path):
        refusal = _refusal(asset, rules, has_private=private is not None)
        if refusal is None and rules.limit is not None and taken >= rules.limit:
            refusal = (LIMIT, f"the limit is {rules.limit}")
        if refusal is not None:
            plan.skipped.append(skipped_asset(asset, *refusal))
            continue
        is_private = asset.embargoed and private is not None
        layout = private if is_private and private is not None else public
        problem = layout.store.name_problem(layout.relative(layout.place(asset)))
        if problem is not None:
            plan.skipped.append(skipped_asset(asset, UNUSABLE_PATH, problem))
            continue
        other = same_place.earlier(layout, asset)
        if other is not None:
            detail = f"the output ignores case, and {other!r} is in its place"
            plan.skipped.append(skipped_asset(asset, UNUSABLE_PATH, detail))
            continue
        taken += 1
        listing = (private_listing or Listing()) if is_private else public_listing
        decide.plan_asset(plan, asset, layout, listing)
    return plan


def skipped_asset(asset: CatalogAsset, reason: str, detail: str = "", failed: str = "") -> SkippedAsset:
    """Describe an asset that is passed over; ``failed`` is when one in quarantine did."""
    return SkippedAsset(
        dandiset=asset.dandiset,
        version=asset.version,
        path=asset.path,
        asset_id=asset.asset_id,
        size=asset.size,
        reason=reason,
        detail=detail,
        private=asset.embargoed,
        failed=failed,
    )


def idle_patterns(rules: SelectionRules, assets: Iterable[CatalogAsset]) -> list[tuple[str, int, str]]:
    """Find patterns that match no asset: ``include`` or ``exclude``, their position, and themselves.

    Those that nobody wrote are for files of many kinds, and need not match.
    """
    paths = [asset.path for asset in assets]
    named = [("include", n, pattern) for n, pattern in enumerate(rules.include) if rules.is_include_own]
    named += [("exclude", n, pattern) for n, pattern in enumerate(rules.exclude)]
    return [each for each in named if not any(matches_any(path, [each[2]]) for path in paths)]


def record_key(asset: CatalogAsset, options: ReferenceOptions) -> RecordKey:
    """Return what the record of an asset will be named by."""
    return RecordKey(asset.asset_id, asset.etag, options.digest, FORMAT_VERSION)


def source_url(asset: CatalogAsset, options: ReferenceOptions) -> str:
    """Choose the URL that references use; an embargoed blob has no URL but the download URL."""
    if options.url == "blob" and asset.blob_url and not asset.embargoed:
        return asset.blob_url
    return asset.download_url


def _refusal(asset: CatalogAsset, rules: SelectionRules, *, has_private: bool) -> tuple[str, str] | None:
    if matches_any(asset.path, rules.exclude):
        return EXCLUDED, "an exclude pattern matches"
    if asset.kind == "zarr":
        return ALREADY_ZARR, "the asset is a Zarr store"
    if not rules.include_asset(asset):
        wants_nwb = all(pattern.lower().endswith(".nwb") for pattern in rules.include)
        if asset.path.lower().endswith(".nwb") or not wants_nwb:
            return EXCLUDED, "no include pattern matches"
        return NOT_NWB, ""
    if asset.kind == "other":
        return OTHER_FORMAT, "its content is of no format that is read, as in NetCDF-3 and older MATLAB files"
    if asset.embargoed and not has_private:
        return EMBARGOED, "needs output.private_output, so that nothing of it becomes public"
    problem = path_problem(asset.path)
    if problem:
        return UNUSABLE_PATH, problem
    if not asset.etag:
        return NO_ETAG, "the archive has not computed its ETag yet"
    problem = identity_problem(asset.asset_id, asset.etag)
    return None if problem is None else (UNUSABLE_IDENTITY, problem)


class _SamePlace:
    """Finds assets whose files would lie where those of another one do."""

    def __init__(self) -> None:
        self._ignoring: dict[PurePath, bool] = {}
        self._paths: dict[str, str] = {}

    def earlier(self, layout: OutputLayout, asset: CatalogAsset) -> str | None:
        """Return the path of an earlier asset at the same place, or nothing."""
        if layout.folder not in self._ignoring:
            self._ignoring[layout.folder] = layout.store.ignores_case()
        if not self._ignoring[layout.folder]:
            return None  # `safe_stem` gives different paths different places
        place = folded(layout.place(asset))
        earlier = self._paths.setdefault(place, asset.path)
        return None if earlier == asset.path else earlier


class _Decision:
    """What becomes of an asset that is wanted, by what lies in its output."""

    def __init__(
        self, redo: RedoRules, quarantine: Callable[[OutputLayout, PurePath], Quarantine | None]
    ) -> None:
        self._redo = redo
        self._quarantine = quarantine

    def plan_asset(self, plan: Plan, asset: CatalogAsset, layout: OutputLayout, listing: Listing) -> None:
        """Put an asset into the plan, as work or as passed over."""
        key, place = record_key(asset, layout.options), layout.place(asset)
        records = listing.records.get(place, [])
        done = {record.key: record for record in listing.done(place, layout.references_path(asset))}
        refusal = self._refusal(asset, layout, key, records, is_done=key in done)
        if refusal is not None:
            plan.skipped.append(skipped_asset(asset, *refusal))
            plan.left_out_before += key in done and done[key].outcome == "partial"
            return
        plan.work.append(
            AssetWork(
                asset=asset,
                url=source_url(asset, layout.options),
                options=layout.options,
                key=key,
                cause="forced" if key in done else _cause(key, records),
                private=asset.embargoed,
            )
        )

    def _refusal(
        self,
        asset: CatalogAsset,
        layout: OutputLayout,
        key: RecordKey,
        records: list[ListedRecord],
        *,
        is_done: bool,
    ) -> tuple[str, ...] | None:
        if is_done and not self._redo.force:
            return UNCHANGED, ""
        failures = [record for record in records if record.outcome == "failed"]
        if self._redo.only_failed and not failures:
            return NOT_FAILED, "only what failed before is asked for"
        if self._redo.is_too_old(asset.modified):
            return NOT_SINCE, f"modified {asset.modified}"
        for record in failures:
            found = self._quarantine(layout, record.path) if record.key == key else None
            if found is not None:
                return QUARANTINED, found.text, found.since.isoformat()
        return None


def _cause(key: RecordKey, records: list[ListedRecord]) -> Cause:
    if not records:
        return "new"
    if any(record.key == key for record in records):
        return "failed before"
    if any(record.key.etag == key.etag and record.key.asset_id == key.asset_id for record in records):
        return "other options"
    return "changed"


def twins(listing: Listing) -> Mapping[tuple[str, str, int], ListedRecord]:
    """Find, for every blob that was indexed before, the first record of it."""
    found: dict[tuple[str, str, int], ListedRecord] = {}
    for place in sorted(listing.records):
        for record in listing.records[place]:
            if record.outcome != "failed":
                found.setdefault(record.key.blob_key, record)
    return found
