"""What a document says beside its nodes, kept in the ``zarr.json`` of the group it is written to.

Zarr v3 allows names of others in a metadata document ("Extension points"); readers that do not know one with
``"must_understand": false`` pass over it, as zarr-python does, so that attributes are those of the file
and nothing else. zarr-python keeps it when the group's attributes are changed, and drops it when the group is
made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .document import Rfs, SourceEntry

NAME = "shadowzarr"
"""The name in ``zarr.json``."""

TRAVELLING = ("sources", "skipped", "converted", "hdf5")
"""Parts of a document that have no counterpart in an ordinary Zarr store."""


def extension_of(rfs: Rfs, url_of: Callable[[str], str]) -> dict[str, Any] | None:
    """The extension for a document, or None when there is nothing to keep.

    Parameters
    ----------
    rfs : Rfs
        The document.
    url_of : callable
        What a source is called there, by its location.
    """
    kept: dict[str, Any] = {part: rfs[part] for part in TRAVELLING if rfs.get(part)}  # type: ignore[literal-required]
    if "sources" in kept:
        kept["sources"] = {url_of(location): entry for location, entry in kept["sources"].items()}
    return {"must_understand": False, **kept} if kept else None


def kept_parts(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a document that a node keeps; none of a node that others wrote."""
    found = metadata.get(NAME)
    if not isinstance(found, Mapping):
        return {}
    return {part: found[part] for part in TRAVELLING if isinstance(found.get(part), (dict, list))}


def merged_sources(nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, SourceEntry]:
    """Sources that any of some nodes keeps, by what they are called there."""
    return {
        url: entry for node in nodes.values() for url, entry in kept_parts(node).get("sources", {}).items()
    }
