"""Datasets that are groups in the references: variable-length sequences, and compounds by their fields.

Item i of sequences, counted in C order, is ``values[offsets[i]:offsets[i + 1]]``; a field of a compound is
the member that ``_COLUMNS`` names for it. What is in such a group may be a group again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zarr

from ..regions import Region, region_shape
from ..report import short
from .kinds import Form, Kind, describe, fits_struct, shown_by
from .marks import column_fields, marks
from .values import Leads, element, mismatches

Difference = tuple[str, str, str]
"""Where, and what both sides hold."""


class WrongMembersError(Exception):
    """The group is not what the dataset must be held in; the message says why."""


@dataclass(frozen=True)
class Member:
    """A node in such a group, or the group itself.

    Attributes
    ----------
    kind : Kind
        What it must show.
    shape : tuple of int
        Without the axes of an array datatype.
    array : zarr.Array or None
        When it is an array.
    fields : tuple of (str, Member)
        When it is a compound by its fields.
    offsets : numpy.ndarray or None
        When it is sequences: where each begins.
    values : Member or None
        And their items.
    """

    kind: Kind
    shape: tuple[int, ...]
    array: zarr.Array[Any] | None = None
    fields: tuple[tuple[str, Member], ...] = ()
    offsets: npt.NDArray[np.int64] | None = None
    values: Member | None = None

    def first_difference(self, original: Any, region: Region, leads: Leads) -> Difference | None:
        """The first difference in a region.

        Parameters
        ----------
        original : array
            The region as h5py shows it, with the axes of an array datatype at the end.
        region : tuple of slice
            Along the axes of ``shape``.
        leads : callable
            Compares a reference with a path.
        """
        whole = (*region, *(slice(0, extent) for extent in self.kind.axes))
        if self.array is not None:
            return self._compare_array(self.array, original, whole, leads)
        if self.values is not None and self.offsets is not None:
            return self._compare_sequences(self.values, self.offsets, original, whole, leads)
        for name, member in self.fields:
            found = member.first_difference(original[name], whole, leads)
            if found is not None:
                return f"field {name!r}, {found[0]}", found[1], found[2]
        return None

    def _compare_array(
        self, array: zarr.Array[Any], original: Any, whole: Region, leads: Leads
    ) -> Difference | None:
        if 0 in region_shape(whole):
            return None
        given = array[whole] if whole else array[()]
        if np.shape(given) != np.shape(original):
            return "its shape", str(np.shape(original)), str(np.shape(given))
        differing = np.asarray(mismatches(self.kind, original, given, leads=leads))
        if not differing.any():
            return None
        place = tuple(map(int, np.argwhere(differing)[0])) if differing.ndim else ()
        at = tuple(part.start + index for part, index in zip(whole, place, strict=True))
        wanted, shown = (_shown(self.kind, values, place) for values in (original, given))
        return f"at {at}", wanted, shown

    def _compare_sequences(
        self,
        values: Member,
        offsets: npt.NDArray[np.int64],
        original: Any,
        whole: Region,
        leads: Leads,
    ) -> Difference | None:
        numbers = flat_numbers(whole, (*self.shape, *self.kind.axes))
        parts = [part if isinstance(part, np.ndarray) else np.zeros(0) for part in original.reshape(-1)]
        for number, part in zip(numbers.tolist(), parts, strict=True):
            length = int(offsets[number + 1] - offsets[number])
            if length != len(part):
                return f"sequence {number}", f"{len(part)} items", f"{length} items"
        for run in np.split(np.arange(len(numbers)), np.flatnonzero(np.diff(numbers) != 1) + 1):
            filled = [parts[place] for place in run.tolist() if len(parts[place])]
            if not filled:
                continue
            first, last = numbers[run[0]], numbers[run[-1]]
            region = (slice(int(offsets[first]), int(offsets[last + 1])),)
            found = values.first_difference(np.concatenate(filled), region, leads)
            if found is not None:
                return f"sequences {first} to {last}, {found[0]}", found[1], found[2]
        return None


def _shown(kind: Kind, values: Any, place: tuple[int, ...]) -> str:
    if kind.form in (Form.REFERENCE, Form.REGION):
        return short(str(np.asarray(values, dtype=object)[place]))
    return short(element(kind, np.asarray(values), place))


def take_members(node: Any, kind: Kind, shape: tuple[int, ...]) -> Member:
    """Look at the group that stands for a dataset, and all that is in it.

    Raises
    ------
    WrongMembersError
        When it is not as the convention says.
    """
    if isinstance(node, zarr.Array):
        return _array(node, kind, shape)
    members: dict[str, Any] = dict(node.members())
    if kind.form is Form.RAGGED and kind.item is not None:
        return _sequences(members, kind, kind.item, shape)
    if kind.form is not Form.COMPOUND:
        raise WrongMembersError(f"a group, expected {describe(kind)}")
    wanted = column_fields(kind, dict(node.attrs))
    if set(members) != {entry["member"] for entry in wanted}:
        raise WrongMembersError(f"members {sorted(members)}, expected one for each field")
    inner = (*shape, *kind.axes)
    taken = [
        (name, _inner(members[entry["member"]], field, inner))
        for entry, (name, field) in zip(wanted, kind.fields, strict=True)
    ]
    return Member(kind, shape, fields=tuple(taken))


def _array(node: zarr.Array[Any], kind: Kind, shape: tuple[int, ...]) -> Member:
    fits = kind.form is not Form.COMPOUND or fits_struct(kind, in_group=True)
    if not fits or not shown_by(kind, node.dtype):
        raise WrongMembersError(f"an array of {node.dtype}, expected {describe(kind)}")
    if node.shape != (*shape, *kind.axes):
        raise WrongMembersError(f"an array of shape {node.shape}, expected {(*shape, *kind.axes)}")
    return Member(kind, shape, array=node)


def _sequences(members: dict[str, Any], kind: Kind, item: Kind, shape: tuple[int, ...]) -> Member:
    if set(members) != {"values", "offsets"} or not isinstance(members["offsets"], zarr.Array):
        raise WrongMembersError(f"members {sorted(members)}, expected values and offsets")
    stored = members["offsets"]
    count = math.prod((*shape, *kind.axes))
    if stored.shape != (count + 1,) or stored.dtype.kind != "u":
        raise WrongMembersError(f"offsets of shape {stored.shape} for {count} sequences")
    if dict(stored.attrs) != {"_DTYPE": stored.dtype.name}:
        raise WrongMembersError(f"offsets with the attributes {short(dict(stored.attrs))}")
    offsets = np.asarray(stored[...], dtype=np.int64)
    if offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise WrongMembersError("offsets that do not run from 0 to the number of values")
    values = _inner(members["values"], item, (int(offsets[-1]),))
    return Member(kind, shape, offsets=offsets, values=values)


def _inner(node: Any, kind: Kind, shape: tuple[int, ...]) -> Member:
    """A node in the group, whose attributes are those of the convention and no others."""
    given = dict(node.attrs)
    data_type = node.metadata.to_dict()["data_type"] if isinstance(node, zarr.Array) else None
    wanted = marks(kind, shape, data_type, given)
    if given != wanted:
        raise WrongMembersError(f"a member with the attributes {short(given)}, expected {short(wanted)}")
    return take_members(node, kind, shape)


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
