"""Dataspaces ↔ JSON (HDF REST API, "shape")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from h5py import h5s

NULL: dict[str, Any] = {"class": "H5S_NULL"}
SCALAR: dict[str, Any] = {"class": "H5S_SCALAR"}
UNLIMITED = "H5S_UNLIMITED"


def simple(dims: list[int]) -> dict[str, Any]:
    """A dataspace whose extent never changes; scalar without axes."""
    return {"class": "H5S_SIMPLE", "dims": dims} if dims else SCALAR


def space_to_json(space: h5s.SpaceID) -> dict[str, Any]:
    """A dataspace as JSON; ``maxdims`` only where it differs from ``dims``."""
    kind = space.get_simple_extent_type()
    if kind == h5s.NULL:
        return NULL
    if kind == h5s.SCALAR:
        return SCALAR
    dims, limits = space.get_simple_extent_dims(), space.get_simple_extent_dims(True)
    described: dict[str, Any] = {"class": "H5S_SIMPLE", "dims": list(dims)}
    if tuple(limits) != tuple(dims):
        described["maxdims"] = [UNLIMITED if limit in (None, h5s.UNLIMITED) else limit for limit in limits]
    return described


def space_from_json(described: Mapping[str, Any]) -> h5s.SpaceID:
    """The dataspace that JSON describes.

    Raises
    ------
    ValueError, KeyError
        When it describes none.
    """
    match described["class"]:
        case "H5S_NULL":
            return h5s.create(h5s.NULL)
        case "H5S_SCALAR":
            return h5s.create(h5s.SCALAR)
        case "H5S_SIMPLE":
            limits = described.get("maxdims", described["dims"])
            return h5s.create_simple(
                tuple(described["dims"]),
                tuple(h5s.UNLIMITED if limit == UNLIMITED else limit for limit in limits),
            )
        case other:
            raise ValueError(f"a dataspace of class {other!r}")


def dims_of(described: Mapping[str, Any]) -> tuple[int, ...]:
    """Extent of a dataspace that is not null; no axes for a scalar."""
    return tuple(described.get("dims", ()))
