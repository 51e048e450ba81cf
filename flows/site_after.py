"""The end of a run: the page of the catalogue is brought up to date; it never fails the run."""

from __future__ import annotations

from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.site.write_site import write_site
from shadowzarr.catalog.tables.published import FOLDER, MANIFEST
from shadowzarr.errors import ShadowzarrError


def update_site(layout: OutputLayout) -> list[str]:
    """Write the page of a public output, which is about to have a report; say what stands in the way.

    Parameters
    ----------
    layout : OutputLayout
        The output, which must be held.
    """
    try:
        if layout.store.exists(f"{FOLDER}/{MANIFEST}"):
            write_site(layout, has_report=True)
    except ShadowzarrError as error:
        return [f"the page of the catalogue is not up to date: {error}"]
    return []
