"""Region references: the selection that HDF5 gives against the one that the references say.

In the form of the HDF REST API: points as lists of coordinates, hyperslabs as pairs of corners, both
inclusive. Selections are compared as what they select, in the order in which points were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np
from h5py import h5r, h5s

from ..stored_attributes import strict_json

_NAMES = {
    h5s.SEL_POINTS: "H5S_SEL_POINTS",
    h5s.SEL_HYPERSLABS: "H5S_SEL_HYPERSLABS",
    h5s.SEL_NONE: "H5S_SEL_NONE",
    h5s.SEL_ALL: "H5S_SEL_ALL",
}


def described_region(text: Any) -> tuple[str, dict[str, Any]] | None:
    """The path and the selection of an item of a dataset of region references; None when it is none."""
    try:
        described = strict_json(text)
    except (ValueError, TypeError):
        return None
    if not isinstance(described, dict) or not isinstance(described.get("id"), str):
        return None
    return described.pop("id"), described


def selects(reference: h5py.RegionReference, holder: Any, described: Any) -> bool:
    """Whether JSON describes what a region reference selects.

    Parameters
    ----------
    reference : h5py.RegionReference
        Of the original; not null.
    holder : h5py object
        Any object of the file.
    described : JSON
        ``select_type`` and ``selection``.
    """
    space = h5r.get_region(reference, holder.id)
    kind = space.get_select_type()
    if not isinstance(described, Mapping) or described.get("select_type") != _NAMES.get(kind):
        return False
    if kind not in (h5s.SEL_POINTS, h5s.SEL_HYPERSLABS):
        return set(described) == {"select_type"}
    if set(described) != {"select_type", "selection"}:
        return False
    if kind == h5s.SEL_POINTS:
        return bool(described["selection"] == np.asarray(space.get_select_elem_pointlist()).tolist())
    blocks = np.asarray(space.get_select_hyper_blocklist()).tolist()
    given = described["selection"]
    return isinstance(given, list) and sorted(map(repr, given)) == sorted(map(repr, blocks))
