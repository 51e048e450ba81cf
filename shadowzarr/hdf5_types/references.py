"""References in values: what knows the objects of a file, and region references ↔ JSON.

The JSON of a region is that of the HDF REST document, with the path of the dataset as its ``id``.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from h5py import h5r, h5s

NULL = ""
"""A null reference in JSON."""

DANGLING = {"dangling": True}
"""A reference to an object that has no path, or is no more."""

NOWHERE = 2**64 - 2
"""Address that is written for a dangling reference: no object can be there."""

_ALL, _NONE, _POINTS, _BLOCKS = "H5S_SEL_ALL", "H5S_SEL_NONE", "H5S_SEL_POINTS", "H5S_SEL_HYPERSLABS"


class References(Protocol):
    """The objects of a file, for references to them."""

    def path(self, address: int) -> str | None:
        """Path of the object at an address, as JSON holds it; None when there is none."""

    def address(self, path: str) -> int | None:
        """Address of the object at a path; None when there is none."""

    def target(self, reference: Any) -> Any:
        """An object reference that h5py read, as JSON."""

    def region(self, reference: Any) -> dict[str, Any]:
        """A region reference that h5py read, as JSON."""

    def region_reference(self, described: dict[str, Any]) -> Any:
        """The region reference that JSON describes."""


def selection_to_json(space: h5s.SpaceID) -> dict[str, Any]:
    """The selection of a dataspace."""
    match space.get_select_type():
        case h5s.SEL_POINTS:
            points = np.asarray(space.get_select_elem_pointlist()).tolist()
            return {"select_type": _POINTS, "selection": points}
        case h5s.SEL_HYPERSLABS if _is_unlimited(space):
            names = ("start", "stride", "count", "block")
            parts = zip(names, space.get_regular_hyperslab(), strict=True)
            return {"select_type": _BLOCKS, **{name: _limits(part) for name, part in parts}}
        case h5s.SEL_HYPERSLABS:
            blocks = np.asarray(space.get_select_hyper_blocklist()).tolist()
            return {"select_type": _BLOCKS, "selection": blocks}
        case h5s.SEL_NONE:
            return {"select_type": _NONE}
        case _:
            return {"select_type": _ALL}


def _is_unlimited(space: h5s.SpaceID) -> bool:
    """Whether a selection grows with the dataset, as those of virtual datasets may."""
    if not space.is_regular_hyperslab():
        return False
    return any(int(n) == h5s.UNLIMITED for part in space.get_regular_hyperslab()[2:] for n in part)


def _limits(numbers: Any) -> list[int | str]:
    return ["H5S_UNLIMITED" if int(number) == h5s.UNLIMITED else int(number) for number in numbers]


def select(space: h5s.SpaceID, described: dict[str, Any]) -> None:
    """Select in a dataspace what JSON describes.

    Raises
    ------
    ValueError
        For a kind of selection that is not known.
    """
    match described["select_type"]:
        case "H5S_SEL_POINTS":
            space.select_elements(np.array(described["selection"], np.uint64))
        case "H5S_SEL_HYPERSLABS":
            space.select_none()
            for first, last in described["selection"]:
                count = tuple(b - a + 1 for a, b in zip(first, last, strict=True))
                space.select_hyperslab(tuple(first), count, op=h5s.SELECT_OR)
        case "H5S_SEL_ALL":
            space.select_all()
        case "H5S_SEL_NONE":
            space.select_none()
        case other:
            raise ValueError(f"a selection of kind {other!r}")


def is_null_region(reference: Any) -> bool:
    """Whether h5py gave a null region reference."""
    return not isinstance(reference, h5r.RegionReference) or not reference
