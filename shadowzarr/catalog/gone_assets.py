"""Results of an output whose assets are no longer in their version. Found and told; nothing is done here.

What becomes of them is the subject of `shadowzarr.catalog.prune`. A pure function of a listing of the output
and one of the archive.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from .asset_names import path_problem
from .assets import CatalogAsset
from .layout import Listing, OutputLayout, place_of
from .run_summary import Fate, KeptResult


def gone_assets(
    listing: Listing,
    layout: OutputLayout,
    assets: Iterable[CatalogAsset],
    *,
    of: tuple[str, str],
    private: bool = False,
    fate: Fate = "kept",
) -> list[KeptResult]:
    """Find what lies in the output for assets that their version no longer has.

    Parameters
    ----------
    listing : Listing
        What lies in the output for this version.
    layout : OutputLayout
        The output.
    assets : iterable of CatalogAsset
        All assets of the version, wanted or not.
    of : tuple of str
        Dandiset and version.
    private : bool
        Whether the output is the private one.
    fate : str
        What the policy is for them. What belongs to a version without any assets is kept, whatever that
        is: a listing of nothing is more often a mistake than the truth.

    Returns
    -------
    list of KeptResult
        In the order of their paths.
    """
    there = {layout.place(asset) for asset in assets if path_problem(asset.path) is None}
    references = {place_of(path) for path in listing.references} - there
    failures = set(listing.records) - there - references
    dandiset, version = of
    folder = layout.version_folder(dandiset, version)

    def kept(place: PurePath) -> KeptResult:
        return KeptResult(
            dandiset=dandiset,
            version=version,
            path=place.relative_to(folder).as_posix(),
            what="references" if place in references else "record of a failure",
            private=private,
            fate=fate if there else "kept",
        )

    return [kept(place) for place in sorted(references | failures)]
