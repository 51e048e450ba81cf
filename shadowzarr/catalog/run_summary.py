"""One run over an archive, as its report and its exit code see it.

It holds facts and says the main ones; tables and pages of them are the subject of ``flows``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from ..formatting import format_seconds
from ..notebook import SummaryShown
from .records import IndexRecord
from .run_words import RunWords, words_of

EXIT_ALL_WELL = 0
EXIT_FAILURE = 1
EXIT_LEFT_OUT = 3
"""No asset failed, but objects are left out, or assets that failed before are passed over."""


QUARANTINED = "quarantined"
"""Why an asset is passed over that failed for good before."""

LEFT_FOR_LATER = "left for another run"
"""Why an asset is passed over that a run's budget does not allow."""

Fate = Literal["kept", "moved aside", "deleted"]


@dataclass(frozen=True)
class SkippedAsset:
    """An asset that the plan passes over.

    Attributes
    ----------
    dandiset, version, path, asset_id : str
        Which asset.
    size : int
        Bytes of the asset.
    reason : str
        One of `shadowzarr.catalog.plan.REASONS`: ``unchanged``, ``not NWB``, ``already Zarr``, ….
    detail : str
        One sentence more, or nothing.
    private : bool
        Whether the asset is embargoed, so that its name stays out of a public report.
    failed : str
        When an asset failed that is in quarantine, UTC; empty for all others.
    """

    dandiset: str
    version: str
    path: str
    asset_id: str
    size: int
    reason: str
    detail: str = ""
    private: bool = False
    failed: str = ""


@dataclass(frozen=True)
class KeptResult:
    """What an output holds for an asset that is no longer in its version.

    Attributes
    ----------
    dandiset, version : str
        Where the asset was.
    path : str
        Its path, as its files are named.
    what : str
        ``references``, or ``record of a failure`` when there is nothing else.
    private : bool
        Whether it lies in the private output, so that its name stays out of a public report.
    fate : str
        What becomes of it: ``kept``, ``moved aside`` or ``deleted``.
    """

    dandiset: str
    version: str
    path: str
    what: Literal["references", "record of a failure"]
    private: bool = False
    fate: Fate = "kept"


@dataclass(frozen=True, repr=False)
class RunSummary(SummaryShown):
    """What a run set out to do and what came of it.

    Attributes
    ----------
    flow : str
        Name of the flow.
    config_digest : str
        Digest of the configuration, twelve hexadecimal digits.
    config_path : str
        The configuration file as it was named, or nothing.
    archive : str
        URL of the archive's API; empty when it was not asked.
    output : str
        The output folder.
    dandisets : list of tuple of str
        Pairs of dandiset and resolved version; of the name of a folder or manifest and ``current``.
    started, finished : str
        UTC, ``2026-01-02T03:04:05.678Z``.
    seconds : float
        Wall-clock time of the run.
    startup_seconds : float
        The part of it in which an orchestrator was started.
    versions : dict of str to str
        Versions of Python and the libraries involved.
    records : list of IndexRecord
        Assets worked on in this run, in the order they ended.
    skipped : list of SkippedAsset
        Assets passed over, with the reason.
    not_started : int
        Planned assets that an early stop left undone.
    left_out_before : int
        Unchanged assets whose references, of an earlier run, leave objects out.
    warnings : list of str
        What the configuration asks for and this version does not do, and the like.
    kept : list of KeptResult
        Results whose assets are no longer in their version, and what became of them.
    repositories_failed : int
        Dandisets whose Icechunk repository could not be refreshed.
    repositories_partial : int
        Those whose repository lacks assets or versions.
    stores_failed : int
        Assets whose Zarr store could not be written, when that was asked for.
    stores_lacking : int
        Assets that are passed over by name, and stores that lack what references leave out.
    """

    flow: str
    config_digest: str
    config_path: str
    archive: str
    output: str
    dandisets: list[tuple[str, str]]
    started: str
    finished: str
    seconds: float
    versions: dict[str, str]
    records: list[IndexRecord]
    skipped: list[SkippedAsset]
    not_started: int = 0
    left_out_before: int = 0
    warnings: list[str] = field(default_factory=list)
    kept: list[KeptResult] = field(default_factory=list)
    startup_seconds: float = 0.0
    repositories_failed: int = 0
    repositories_partial: int = 0
    stores_failed: int = 0
    stores_lacking: int = 0

    def summary(self) -> str:
        """What came of it in one line, and a line for each asset that failed."""
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in self.outcome_counts.items())
        names = ", ".join(name for name, _ in self.dandisets)
        took = format_seconds(self.seconds)
        first = f"{self.flow} of {names}: {counts or 'nothing to do'}; exit code {self.exit_code}, {took}"
        return "\n".join([first, *(f"failed: {each.path}: {each.failure_text}" for each in self.failures)])

    @property
    def words(self) -> RunWords:
        """What its assets are called, and what is done to them."""
        return words_of(self.flow)

    @property
    def failures(self) -> list[IndexRecord]:
        """Records of assets that failed."""
        return [record for record in self.records if record.outcome == "failed"]

    @property
    def quarantined(self) -> int:
        """Assets that were passed over because they failed for good before."""
        return sum(asset.reason == QUARANTINED for asset in self.skipped)

    @property
    def outcome_counts(self) -> dict[str, int]:
        """Assets per outcome: ``indexed``, ``partial``, ``failed``."""
        return dict(Counter(record.outcome for record in self.records))

    @property
    def plan_counts(self) -> dict[str, int]:
        """Assets per fate in the plan: ``to index``, then each reason for passing over."""
        planned = len(self.records) + self.not_started
        return {"to index": planned, **Counter(asset.reason for asset in self.skipped)}

    @property
    def exit_code(self) -> int:
        """0 when all went well, 1 when an asset failed or was not started, 3 when something is left out.

        That may be objects, or assets in quarantine, or assets of an Icechunk repository or Zarr stores.
        """
        if self.failures or self.not_started or self.repositories_failed or self.stores_failed:
            return EXIT_FAILURE
        if (
            self.left_out_before
            or self.repositories_partial
            or self.stores_lacking
            or self.quarantined
            or any(record.outcome == "partial" for record in self.records)
        ):
            return EXIT_LEFT_OUT
        return EXIT_ALL_WELL
