"""Everything a report shows, in the order it shows it. Pure functions of a run's summary."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from shadowzarr.catalog.file_assets import CURRENT
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_summary import RunSummary
from shadowzarr.formatting import format_bytes, format_count, format_seconds, format_share

from .asset_rows import AssetRow, asset_rows
from .groups import Group, failure_groups, kept_groups, left_out_groups, passed_over_groups
from .outcome import Share, Status, headline, shares, status, unchanged_count, verified
from .plots import Plot, plots


@dataclass(frozen=True)
class Tile:
    """One large number.

    Attributes
    ----------
    label, value, note : str
        What it is, the number, and a line below it.
    kind : str
        Class that colours it, or nothing.
    """

    label: str
    value: str
    note: str = ""
    kind: str = ""


@dataclass(frozen=True)
class ReportView:
    """What the template fills in.

    Attributes
    ----------
    summary : RunSummary
        The run, without what is private.
    status, headline : str
        How it went.
    shares : list of Share
        How the assets ended.
    tiles : list of Tile
    rows : list of AssetRow
    failures, left_out, passed_over, kept : list of Group
    plots : list of Plot
    settings, versions : list of (str, str)
        Configuration and libraries.
    dandiset_count, collection_count : int
        Versions of dandisets; folders and manifests.
    private_count : int
        Embargoed assets, which are counted and not shown.
    duration : str
        Of the run.
    """

    summary: RunSummary
    status: Status
    headline: str
    shares: list[Share]
    tiles: list[Tile]
    rows: list[AssetRow]
    failures: list[Group]
    left_out: list[Group]
    passed_over: list[Group]
    kept: list[Group]
    plots: list[Plot]
    settings: list[tuple[str, str]]
    versions: list[tuple[str, str]]
    dandiset_count: int
    collection_count: int
    private_count: int
    duration: str


def report_view(summary: RunSummary, *, include_private: bool = False) -> ReportView:
    """Return what a report shows.

    Parameters
    ----------
    summary : RunSummary
        The run. How it went is judged with its private assets, whatever is shown.
    include_private : bool
        Show embargoed assets by name; only for a report that lies in the private output.
    """
    shown = summary if include_private else _without_private(summary)
    hidden = _named(summary) - _named(shown)
    collections = sum(version == CURRENT for _, version in summary.dandisets)
    return ReportView(
        summary=shown,
        status=status(summary),
        headline=headline(summary),
        shares=shares(summary),
        tiles=_tiles(summary),
        rows=asset_rows(shown.records),
        failures=failure_groups(shown.records, noun=shown.words.noun),
        left_out=left_out_groups(shown.records),
        passed_over=passed_over_groups(shown.skipped),
        kept=kept_groups(shown.kept),
        plots=plots(shown),
        settings=_settings(shown),
        versions=sorted(shown.versions.items()),
        dandiset_count=len(summary.dandisets) - collections,
        collection_count=collections,
        private_count=hidden,
        duration=format_seconds(summary.seconds),
    )


def _named(summary: RunSummary) -> int:
    return len(summary.records) + len(summary.skipped) + len(summary.kept)


def _without_private(summary: RunSummary) -> RunSummary:
    return dataclasses.replace(
        summary,
        records=[record for record in summary.records if not record.private],
        skipped=[asset for asset in summary.skipped if not asset.private],
        kept=[each for each in summary.kept if not each.private],
    )


def _tiles(summary: RunSummary) -> list[Tile]:
    done = [record for record in summary.records if record.outcome != "failed"]
    unchanged, failed = unchanged_count(summary), len(summary.failures)
    passed_over = len(summary.skipped) - unchanged
    return [
        Tile(
            summary.words.done.capitalize(),
            format_count(len(done)),
            _partial_note(done),
            "good" if done else "",
        ),
        Tile("Unchanged", format_count(unchanged), "done by an earlier run" if unchanged else ""),
        Tile("Passed over", format_count(passed_over), "reasons below" if passed_over else ""),
        Tile("Failed", format_count(failed), _waiting_note(summary), "bad" if failed else ""),
        *_byte_tiles(done, retries=_retries(summary)),
        _verification_tile(done),
        _time_tile(summary),
    ]


def _partial_note(done: Sequence[IndexRecord]) -> str:
    partial = sum(record.outcome == "partial" for record in done)
    return f"{partial:,} with objects left out" if partial else "nothing left out" if done else ""


def _waiting_note(summary: RunSummary) -> str:
    return f"{summary.not_started:,} not started" if summary.not_started else ""


def _retries(summary: RunSummary) -> int:
    return round(sum(record.statistics.get("retries", 0) for record in summary.records))


def _byte_tiles(done: Sequence[IndexRecord], *, retries: int) -> list[Tile]:
    size = sum(record.size for record in done)
    references = sum(record.references_bytes for record in done)
    read = sum(record.statistics.get("bytes_read", 0) for record in done)
    share = f"{format_share(references, size)} of the files" if size else ""
    notes = [f"{format_bytes(read)} read to index them"] if read else []
    notes += [f"{format_count(retries, 'request')} tried again"] if retries else []
    return [
        Tile("Files", format_bytes(size), ", ".join(notes)),
        Tile("References", format_bytes(references), share),
    ]


def _verification_tile(done: Sequence[IndexRecord]) -> Tile:
    equal = sum(map(verified, done))
    compared = sum(record.verification.bytes for record in done if record.verification)
    if not done:
        return Tile("Verified", "0")
    kind = "good" if equal == len(done) else ""
    return Tile("Verified", f"{equal:,} of {len(done):,}", f"{format_bytes(compared)} compared", kind)


def _time_tile(summary: RunSummary) -> Tile:
    work = sum(record.seconds for record in summary.records)
    notes = [f"{format_seconds(work)} of work"] if summary.records else []
    if summary.startup_seconds:
        notes.append(f"{format_seconds(summary.startup_seconds)} Prefect's start")
    note = ", ".join(notes)
    return Tile("Time", format_seconds(summary.seconds), note)


def _settings(summary: RunSummary) -> list[tuple[str, str]]:
    dandisets = [f"{name} ({version})" for name, version in summary.dandisets if version != CURRENT]
    collections = [name for name, version in summary.dandisets if version == CURRENT]
    settings = [
        ("flow", summary.flow),
        ("configuration", summary.config_path or "none"),
        ("digest of the configuration", summary.config_digest),
        *([("archive", summary.archive), ("dandisets", ", ".join(dandisets))] if dandisets else []),
        *([(summary.words.collections, ", ".join(collections))] if collections else []),
        ("output", summary.output),
    ]
    options = summary.records[0].options if summary.records else {}
    return settings + [(f"references.{name}", str(value)) for name, value in options.items()]
