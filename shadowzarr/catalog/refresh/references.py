"""Published references of a dandiset, found by the bytes that they are of.

A blob may be in several versions of a dandiset, or have had another path; its references differ by nothing
but the URL they point into, which a repository replaces.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePath

from ...errors import InvalidReferencesError
from ..asset_names import DIRECTORY_SUFFIX, JSON_SUFFIX
from ..assets import CatalogAsset
from ..layout import ListedRecord, Listing, OutputLayout, with_suffix
from ..records import ErrorSummary, load_record


class PublishedReferences:
    """Records of one dandiset in an output, from one listing of it.

    Parameters
    ----------
    layout : OutputLayout
        The output.
    dandiset : str
        Six digits.

    Raises
    ------
    OutputError
        When it cannot be listed.
    """

    def __init__(self, layout: OutputLayout, dandiset: str) -> None:
        self._layout = layout
        self._done: dict[str, list[tuple[PurePath, ListedRecord]]] = defaultdict(list)
        self._failed: dict[str, list[ListedRecord]] = defaultdict(list)
        listing = layout.list_versions(dandiset)
        for place, records in sorted(listing.records.items()):
            for record in records:
                if record.outcome == "failed":
                    self._failed[record.key.etag].append(record)
                elif _has_references(listing, place):
                    self._done[record.key.etag].append((place, record))

    def of(self, asset: CatalogAsset) -> ListedRecord | None:
        """The record of an asset's references: those at its own place, or others of the same bytes."""
        found = self._done.get(asset.etag, [])
        if not found:
            return None
        own = self._layout.place(asset)
        return next((record for place, record in found if place == own), found[0][1])

    def failure(self, asset: CatalogAsset) -> ErrorSummary | None:
        """Why an asset could not be indexed; none when nobody tried, or the record tells nothing."""
        records = self._failed.get(asset.etag, [])
        mine = [record for record in records if record.key.asset_id == asset.asset_id] or records
        if not mine:
            return None
        try:
            return load_record(self._layout.store, self._layout.relative(mine[0].path)).error
        except (InvalidReferencesError, OSError):
            return None


def _has_references(listing: Listing, place: PurePath) -> bool:
    return any(with_suffix(place, end) in listing.references for end in (DIRECTORY_SUFFIX, JSON_SUFFIX))
