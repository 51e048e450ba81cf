"""An index as it stands in square brackets → what is taken along each axis. Pure.

As numpy has it; but an index whose axes numpy would reorder, and one with several lists, which numpy pairs
and Zarr crosses, are refused rather than guessed.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import OutOfRangeError, UsageError
from .axes import Picks, as_range

Pick = int | Picks
"""One of an axis, which then is gone, or some of it."""


def parse_index(index: Any, shape: Sequence[int]) -> list[Pick]:
    """What an index takes along each axis.

    Parameters
    ----------
    index
        Integers, slices, one list of integers or booleans, and ``...``.
    shape : sequence of int
        Of the array that is indexed.

    Returns
    -------
    list of int, range or numpy.ndarray
        For each axis; numbers are from 0 to its length.

    Raises
    ------
    OutOfRangeError
        When a number lies outside of its axis, or there are more numbers than axes.
    UsageError
        For what is no index here: two lists, new axes, or a list and an integer with a slice between them.
    """
    parts = _filled(index if isinstance(index, tuple) else (index,), len(shape))
    picks = [_pick(part, extent, axis) for axis, (part, extent) in enumerate(zip(parts, shape, strict=True))]
    _check_lists(parts)
    return picks


def normalized_axis(axis: Any, ndim: int, what: str = "axis") -> int:
    """An axis counted from the front.

    Raises
    ------
    UsageError
        When there is no such axis.
    """
    try:
        number = operator.index(axis)
    except TypeError:
        raise UsageError(f"{what} {axis!r}: expected a whole number") from None
    if not -ndim <= number < ndim:
        raise UsageError(f"{what} {number}: there are {ndim} axes")
    return number % ndim


def _filled(parts: tuple[Any, ...], ndim: int) -> list[Any]:
    """The parts with a full slice for each axis that none names."""
    dots = [number for number, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise UsageError("an index has one '...' at most")
    named = len(parts) - len(dots)
    if named > ndim:
        raise OutOfRangeError(f"too many indices: the array has {ndim} axes, but {named} were indexed")
    at = dots[0] if dots else len(parts)
    return [*parts[:at], *[slice(None)] * (ndim - named), *parts[at + 1 :]]


def _pick(part: Any, extent: int, axis: int) -> Pick:
    if isinstance(part, slice):
        try:
            return range(extent)[part]
        except (TypeError, ValueError) as error:
            raise UsageError(f"axis {axis}: {part} is no slice: {error}") from error
    if part is None:
        raise UsageError("an index cannot make a new axis; stack([array], axis) does")
    if isinstance(part, bool | np.bool_):
        raise UsageError(f"axis {axis}: {part} is no index; expected integers, slices or a list")
    if _is_list(part):
        return _listed(part, extent, axis)
    try:
        number = operator.index(part)
    except TypeError:
        raise UsageError(
            f"axis {axis}: {str(part)[:80]!r} is no index; expected integers, slices or a list"
        ) from None
    return _inside(number, extent, axis)


def _is_list(part: Any) -> bool:
    return isinstance(part, range) or (isinstance(part, list | tuple | np.ndarray) and np.ndim(part) > 0)


def _listed(part: Any, extent: int, axis: int) -> Picks:
    if isinstance(part, range) and len(part) and min(part[0], part[-1]) >= 0:
        _inside(max(part[0], part[-1]), extent, axis)
        return part
    numbers = np.asarray(part)
    if numbers.ndim != 1:
        raise UsageError(f"axis {axis}: a list of shape {numbers.shape}; expected one axis")
    if numbers.dtype == np.bool_:
        if len(numbers) != extent:
            raise OutOfRangeError(
                f"axis {axis}: a mask of {len(numbers)} booleans; the axis has {extent} elements"
            )
        return as_range(np.flatnonzero(numbers).astype(np.int64))
    if len(numbers) and numbers.dtype.kind not in "iu":
        raise UsageError(f"axis {axis}: a list of {numbers.dtype}; expected integers or booleans")
    for number in (numbers.min(), numbers.max()) if len(numbers) else ():
        _inside(int(number), extent, axis)
    numbers = numbers.astype(np.int64)
    return as_range(np.where(numbers < 0, numbers + extent, numbers))


def _inside(number: int, extent: int, axis: int) -> int:
    if not -extent <= number < extent:
        raise OutOfRangeError(f"index {number} is out of bounds for axis {axis} with size {extent}")
    return number % extent


def _check_lists(parts: Sequence[Any]) -> None:
    """Refuse what numpy means otherwise than one axis after another."""
    is_list = [_is_list(part) for part in parts]
    if sum(is_list) > 1:
        raise UsageError(
            "an index has one list at most, for numpy pairs the numbers of several; "
            "index one axis after the other: array[rows][:, columns]"
        )
    if not any(is_list):
        return
    taken = [axis for axis, part in enumerate(parts) if is_list[axis] or not isinstance(part, slice)]
    if taken[-1] - taken[0] != len(taken) - 1:
        raise UsageError(
            "an index with a slice between a list and an integer, which numpy gives other axes; "
            "index one axis after the other: array[0][:, columns]"
        )
