"""`stack` and `concatenate`: several virtual arrays as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UsageError
from .array import VirtualArray
from .indexing import normalized_axis
from .layouts import Joined, Layout, Stacked


def stack(arrays: Sequence[VirtualArray], axis: int = 0) -> VirtualArray:
    """Join alike arrays along a new axis. Each keeps its chunks, which get one more coordinate.

    Parameters
    ----------
    arrays : sequence of VirtualArray
        Of one shape, data type and chunk shape.
    axis : int, optional
        The new axis in the result.

    Returns
    -------
    VirtualArray
        It has one axis more, and points at the same bytes.

    Raises
    ------
    UsageError
        When there are none, or they differ in shape or data type.
    NeedsDataError
        When their chunks differ in shape, or in how they are stored.
    """
    first = _check_alike(arrays, "stack")
    for number, array in enumerate(arrays):
        if array.shape != first.shape:
            raise UsageError(
                f"stack: array {number} has shape {array.shape} and array 0 {first.shape}; they must be of "
                "one shape"
            )
    at = normalized_axis(axis, first.ndim + 1)
    names = first.dimension_names
    if names is not None:
        names = (*names[:at], None, *names[at:])
    return _joined(arrays, Stacked(tuple(array._layout for array in arrays), at), names)


def concatenate(arrays: Sequence[VirtualArray], axis: int = 0) -> VirtualArray:
    """Join arrays end to end along an axis that they have, where their chunk grids line up.

    Each array but the last must be a whole number of chunks long along the axis. Arrays for which no chunk
    shape was asked are cut so, if the divisors of their lengths give chunks of a useful size.

    Parameters
    ----------
    arrays : sequence of VirtualArray
        Of one data type and chunk shape, and of one shape but for the axis.
    axis : int, optional
        The axis.

    Returns
    -------
    VirtualArray
        It is as long as all of them, and points at the same bytes.

    Raises
    ------
    UsageError
        When there are none, or they differ in data type or along another axis.
    NeedsDataError
        When an array ends inside a chunk, or chunks differ in shape, or in how they are stored.
    """
    first = _check_alike(arrays, "concatenate")
    at = normalized_axis(axis, first.ndim)
    for number, array in enumerate(arrays):
        if _without(array.shape, at) != _without(first.shape, at):
            raise UsageError(
                f"concatenate: array {number} has shape {array.shape} and array 0 {first.shape}; they may "
                "differ "
                f"along axis {at} only"
            )
    filled = [array._layout for array in arrays if array.shape[at]]
    parts: tuple[Layout, ...] = tuple(filled or [first._layout])
    layout = parts[0] if len(parts) == 1 else Joined(parts, at)
    return _joined(arrays, layout, first.dimension_names)


def _check_alike(arrays: Sequence[VirtualArray], what: str) -> VirtualArray:
    if not len(arrays):
        raise UsageError(f"{what} needs at least one array")
    for number, array in enumerate(arrays):
        if not isinstance(array, VirtualArray):
            raise UsageError(f"{what}: array {number} is a {type(array).__name__}; expected a VirtualArray")
    first = arrays[0]
    fill = next((array._fill_value for array in arrays if array._fill_value is not None), None)
    for number, array in enumerate(arrays):
        if array.dtype != first.dtype or array._data_type != first._data_type:
            raise UsageError(
                f"{what}: array {number} has data type {array.dtype} and array 0 {first.dtype}; a Zarr array "
                "has one, "
                "of one byte order"
            )
        if array._fill_value not in (None, fill):
            raise UsageError(
                f"{what}: array {number} has the fill value {array._fill_value!r} and another array {fill!r}"
            )
    return first


def _joined(
    arrays: Sequence[VirtualArray], layout: Layout, names: Sequence[str | None] | None
) -> VirtualArray:
    """The arrays as one, with the attributes that all of them have."""
    first = arrays[0]
    shared = {
        name: value
        for name, value in first._attributes.items()
        if all(_same(array._attributes.get(name), value) for array in arrays)
    }
    same_names = all(array.dimension_names == first.dimension_names for array in arrays)
    return VirtualArray(
        layout,
        dtype=first.dtype,
        data_type=first._data_type,
        fill_value=next((array._fill_value for array in arrays if array._fill_value is not None), None),
        attributes=shared,
        dimension_names=names if same_names else None,
        sources={url: entry for array in arrays for url, entry in array._sources.items()},
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two attributes are equal; values that are compared element by element count as different."""
    try:
        return bool(one == other)
    except ValueError:
        return one is other


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])
