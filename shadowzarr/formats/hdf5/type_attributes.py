"""Attributes of committed data types, which have no node: kept where the ``hdf5`` section holds them."""

from __future__ import annotations

from ...refs.document import Rfs

NO_NODE = "a committed data type has no node"
"""Why such an attribute is left out of a document without the section."""


def keep_described(rfs: Rfs) -> None:
    """Take attributes that the section describes out of ``skipped``, in place; ``converted`` names them.

    Parameters
    ----------
    rfs : Rfs
        The document, with its section.
    """
    section = rfs.get("hdf5", {})
    kept = []
    for entry in rfs.get("skipped", []):
        owner, _, name = entry["path"].rpartition("@")
        described = section.get("objects", {}).get(owner, {}).get("attributes", {})
        if entry["kind"] == "attribute" and entry["reason"] == NO_NODE and name in described:
            kept.append(entry)
    if not kept:
        return
    rfs["skipped"] = [entry for entry in rfs["skipped"] if entry not in kept]
    notes = [{"path": entry["path"], "what": "held in the section hdf5 only"} for entry in kept]
    rfs["converted"] = [*rfs.get("converted", []), *notes]  # type: ignore[list-item]
    if not rfs["skipped"]:
        del rfs["skipped"]
