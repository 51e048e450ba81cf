"""What went wrong, what was left out and what was passed over, grouped by cause. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from shadowzarr.catalog.plan import (
    ALREADY_ZARR,
    EMBARGOED,
    EXCLUDED,
    LIMIT,
    NO_ETAG,
    NOT_FAILED,
    NOT_NWB,
    NOT_SINCE,
    OTHER_FORMAT,
    UNCHANGED,
    UNUSABLE_IDENTITY,
    UNUSABLE_PATH,
)
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_summary import LEFT_FOR_LATER, QUARANTINED, KeptResult, SkippedAsset

from .remedies import remedy
from .safe_text import shorten

MOST_ITEMS = 200
"""Items of one group that are shown; the rest is counted, and is in the records."""

LONGEST_MESSAGE = 600

_PASSED_OVER = {
    UNCHANGED: "Done by an earlier run, from the same content with the same options.",
    NOT_NWB: "Not matched by the include patterns; the default is **/*.nwb.",
    ALREADY_ZARR: "A Zarr asset is read in place and needs no references.",
    LIMIT: "Beyond the limit that the config sets.",
    EXCLUDED: "Excluded by the config.",
    OTHER_FORMAT: "Named as formats are that are read, and of others: NetCDF-3, MATLAB before 7.3.",
    EMBARGOED: "Embargoed; set output.private_output to index them apart from what is public.",
    UNUSABLE_PATH: "Their paths cannot be paths of the output; ask the owner to rename them.",
    UNUSABLE_IDENTITY: "The archive describes them in a way that no archive of this kind should; tell it.",
    NO_ETAG: "The archive is still computing their checksums; the next run takes them.",
    QUARANTINED: "Failed before for a reason that stays with the file; tried again when the file or the "
    "library changes, or the time is over. The option --only-failed tries them now.",
    NOT_FAILED: "Only what failed before was asked for (redo.only_failed).",
    LEFT_FOR_LATER: "The budget of this run was used up; another run goes on with them, the oldest first.",
    NOT_SINCE: "Older than what was asked for (redo.since).",
}


_GONE = {
    "kept": "The assets were removed or renamed; what was made of them stays and is not updated any more. "
    "Set output.gone to move or delete, or delete them by hand when nobody reads them.",
    "moved aside": "The assets were removed or renamed; what was made of them is in the folder gone.",
    "deleted": "The assets were removed or renamed, and what was made of them was deleted (output.gone).",
}


@dataclass(frozen=True)
class Item:
    """One line of a group.

    Attributes
    ----------
    asset : str
        Dandiset and path of the asset.
    text : str
        What is said about it.
    lines : tuple of str
        Details, one a line.
    """

    asset: str
    text: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """Things with one cause.

    Attributes
    ----------
    title : str
        The cause.
    advice : str
        What it means, or what to do.
    count : int
        All of them.
    items : list of Item
        At most `MOST_ITEMS`.
    """

    title: str
    advice: str
    count: int
    items: list[Item]


def failure_groups(records: Iterable[IndexRecord], *, noun: str = "asset") -> list[Group]:
    """Group what failed by the remedy, which calls them by ``noun``, the largest group first."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for record in records:
        if record.outcome != "failed":
            continue
        kind = record.error.kind if record.error else "unknown"
        advice = remedy(kind, transient=bool(record.error and record.error.transient), noun=noun)
        groups.setdefault((advice.title, advice.advice), []).append(_failure(record))
    return _largest_first(groups, advice=lambda key: key[1], title=lambda key: key[0])


def left_out_groups(records: Iterable[IndexRecord]) -> list[Group]:
    """Group the objects that references leave out by kind and reason."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for record in records:
        for item in record.skipped:
            groups.setdefault((item.kind, item.reason), []).append(Item(_asset(record), item.path))
    return _largest_first(groups, advice=lambda key: key[1], title=lambda key: key[0])


def passed_over_groups(skipped: Iterable[SkippedAsset]) -> list[Group]:
    """Group the assets that the plan passed over by reason."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for asset in skipped:
        item = Item(f"{asset.dandiset}/{asset.path}", asset.detail)
        groups.setdefault((asset.reason, ""), []).append(item)
    return _largest_first(groups, advice=lambda key: _PASSED_OVER.get(key[0], ""), title=lambda key: key[0])


def kept_groups(kept: Iterable[KeptResult]) -> list[Group]:
    """Group results whose assets are gone by what they are."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for each in kept:
        item = Item(f"{each.dandiset}/{each.version}/{each.path}", "")
        groups.setdefault((each.what, each.fate), []).append(item)
    return _largest_first(groups, advice=lambda key: _GONE[key[1]], title=lambda key: f"{key[0]}, {key[1]}")


def _failure(record: IndexRecord) -> Item:
    differences = record.verification.differences if record.verification else []
    return Item(
        _asset(record),
        shorten(record.failure_text, limit=LONGEST_MESSAGE),
        tuple(shorten(line, limit=LONGEST_MESSAGE) for line in differences[:10]),
    )


def _asset(record: IndexRecord) -> str:
    return f"{record.dandiset}/{record.path}"


def _largest_first(
    groups: dict[tuple[str, str], list[Item]],
    *,
    title: Callable[[tuple[str, str]], str],
    advice: Callable[[tuple[str, str]], str],
) -> list[Group]:
    found = [
        Group(title(key), advice(key), len(items), sorted(items, key=lambda item: item.asset)[:MOST_ITEMS])
        for key, items in groups.items()
    ]
    return sorted(found, key=lambda group: (-group.count, group.title))
