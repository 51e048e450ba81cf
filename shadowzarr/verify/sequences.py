"""Variable-length sequences: a group of ``values`` and ``offsets`` against what h5py shows.

Item i of the dataset, counted in C order, is ``values[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import zarr

from .kinds import Form, Kind, describe, shown_by
from .regions import Region, region_shape
from .report import short
from .values import Leads, mismatches

MEMBERS = {"values", "offsets"}


class WrongSequencesError(Exception):
    """The group is not what sequences are held in; the message says why."""


def is_flat(item: Kind) -> bool:
    """Whether sequences of such items are numbers or references."""
    return item.form in (Form.PLAIN, Form.REFERENCE) and not item.axes


def flat_numbers(region: Region, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Numbers, counted in C order, of a region's elements."""
    if not region:
        return np.zeros(1, np.int64)
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    grids = np.ix_(
        *(np.arange(part.start, part.stop) * step for part, step in zip(region, steps, strict=True))
    )
    total = np.zeros(region_shape(region), np.int64)
    for grid in grids:
        total = total + grid
    return total.reshape(-1)


class Sequences:
    """The references' side of a dataset of sequences.

    Parameters
    ----------
    group : zarr.Group
        What stands for the dataset.
    item : Kind
        What the sequences hold.
    count : int
        Number of sequences.

    Raises
    ------
    WrongSequencesError
        When the group is not such a group.
    """

    def __init__(self, group: zarr.Group, item: Kind, count: int) -> None:
        members: dict[str, Any] = dict(group.members())
        if set(members) != MEMBERS or not all(isinstance(each, zarr.Array) for each in members.values()):
            raise WrongSequencesError(f"members {sorted(members)}, expected arrays values and offsets")
        self._values = members["values"]
        offsets = members["offsets"]
        if not shown_by(item, self._values.dtype) or self._values.ndim != 1:
            raise WrongSequencesError(f"values of type {self._values.dtype}, expected {describe(item)}")
        if offsets.shape != (count + 1,) or offsets.dtype.kind != "u":
            raise WrongSequencesError(f"offsets of shape {offsets.shape} for {count} sequences")
        self._item = item
        self._offsets = np.asarray(offsets[...], dtype=np.int64)
        whole = self._offsets[0] == 0 and self._offsets[-1] == self._values.shape[0]
        if not whole or (np.diff(self._offsets) < 0).any():
            raise WrongSequencesError("offsets that do not run from 0 to the number of values")

    def first_difference(
        self, numbers: npt.NDArray[np.int64], originals: list[Any], leads: Leads
    ) -> tuple[int, str, str] | None:
        """The first of some sequences that differs: its place among them, and both sides.

        Parameters
        ----------
        numbers : numpy.ndarray of int64
            Which sequences.
        originals : list of array
            The same sequences as h5py shows them.
        leads : callable
            Compares a reference with a path.
        """
        start, stop = int(self._offsets[numbers.min()]), int(self._offsets[numbers.max() + 1])
        values = self._values[start:stop] if stop > start else np.zeros(0, self._values.dtype)
        for place, (number, original) in enumerate(zip(numbers.tolist(), originals, strict=True)):
            given = values[self._offsets[number] - start : self._offsets[number + 1] - start]
            wanted = np.asarray(original if original is not None else [])
            if not self._same(wanted, given, leads):
                return place, short(wanted.tolist()), short(given.tolist())
        return None

    def _same(self, wanted: npt.NDArray[Any], given: npt.NDArray[Any], leads: Leads) -> bool:
        if len(wanted) != len(given):
            return False
        return not len(wanted) or not bool(mismatches(self._item, wanted, given, leads=leads).any())
