"""Values of a region from both sides, and which of their elements differ.

Numbers are compared by their bits (so a NaN has its payload, and -0.0 is not 0.0), text as text,
references by the object they lead to, compounds field by field. Neither side is read here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from ..bits import Mask, different_bits
from .kinds import Form, Kind, is_wide

Leads = Callable[[Any, str], bool]
"""Whether a reference of the original and a path (of a region, its JSON) lead to the same."""


def mismatches(kind: Kind, original: Any, given: Any, *, leads: Leads) -> Mask:
    """Which elements differ.

    Parameters
    ----------
    kind : Kind
        What the original holds.
    original, given : array-like
        As h5py and zarr return a region; of one shape.
    leads : callable
        Compares a reference with a path.

    Returns
    -------
    numpy.ndarray of bool
        Shape of the region.
    """
    if kind.form is Form.PLAIN:
        numbers = np.asarray(original)
        if is_wide(numbers.dtype) and kind.dtype is not None:
            return _different_narrowed(numbers, np.asarray(given, dtype=kind.dtype))
        return different_bits(numbers, np.asarray(given))
    if kind.form is Form.TEXT:
        return _different_text(original, given)
    if kind.form in (Form.REFERENCE, Form.REGION):
        return _different_targets(original, given, leads)
    return _different_fields(kind, np.asarray(original), np.asarray(given), leads)


def _different_narrowed(original: npt.NDArray[Any], given: npt.NDArray[Any]) -> Mask:
    """Numbers wider than any Zarr type: the narrower value must be the same number."""
    widened = given.astype(original.dtype)
    same = (widened == original) | (np.isnan(widened) & np.isnan(original))
    differing: Mask = np.asarray(~same)
    return differing


def _different_text(original: Any, given: Any) -> Mask:
    return _compare(text_items(original), text_items(given), lambda one, other: one != other)


def _different_targets(original: Any, given: Any, leads: Leads) -> Mask:
    return _compare(_objects(original), text_items(given), lambda reference, path: not leads(reference, path))


def _compare(
    original: npt.NDArray[np.object_], given: npt.NDArray[np.object_], differ: Callable[[Any, Any], bool]
) -> Mask:
    pairs = zip(original.reshape(-1), given.reshape(-1), strict=True)
    flags = np.fromiter((differ(one, other) for one, other in pairs), dtype=bool, count=original.size)
    return flags.reshape(original.shape)


def _different_fields(kind: Kind, original: npt.NDArray[Any], given: npt.NDArray[Any], leads: Leads) -> Mask:
    differing = np.zeros(original.shape, dtype=bool)
    for name, field in kind.fields:
        shown = numbered_array(given[name], field.axes) if field.axes else given[name]
        flags = mismatches(field, original[name], shown, leads=leads)
        differing |= flags.reshape(*original.shape, -1).any(axis=-1) if field.axes else flags
    return differing


def numbered_array(given: npt.NDArray[Any], axes: tuple[int, ...]) -> npt.NDArray[Any]:
    """A struct of numbered fields as the array it stands for, with its axes at the end."""
    parts = [given[str(number)] for number in range(math.prod(axes))]
    return np.stack(parts, axis=-1).reshape(*given.shape, *axes)


def text_items(values: Any) -> npt.NDArray[np.object_]:
    """Text as an array of ``str``; an item that is not UTF-8 stays ``bytes``.

    Parameters
    ----------
    values : array-like
        Text of any kind: h5py's ``bytes`` objects or fixed-length arrays, zarr's string arrays, or a
        single item.
    """
    items = _objects(values)
    flat = [text_item(item) for item in items.reshape(-1)]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return result.reshape(items.shape)


def text_item(item: Any) -> str | bytes:
    """One item of text; ``bytes`` when it is not UTF-8.

    h5py gives variable-length text in another encoding as ``str`` with surrogates.
    """
    if isinstance(item, str):
        try:
            item.encode("utf-8")
        except UnicodeEncodeError:
            return item.encode("utf-8", "surrogateescape")
        return str(item)
    if isinstance(item, bytes):
        try:
            return item.decode("utf-8")
        except UnicodeDecodeError:
            return bytes(item)
    return ""  # h5py gives 0 for text that was never written


def _objects(values: Any) -> npt.NDArray[np.object_]:
    if isinstance(values, np.ndarray):
        return values.astype(object)
    result = np.empty((), dtype=object)
    result[()] = values
    return result


def _field_element(field: Kind, values: Any, place: tuple[int, ...]) -> Any:
    if not field.axes:
        return element(field, values, place)
    return np.asarray(values)[place].tolist()


def element(kind: Kind, values: Any, place: tuple[int, ...]) -> Any:
    """One element of a region, in a form whose ``repr`` says something."""
    if not isinstance(values, np.ndarray):
        return text_item(values) if kind.form is Form.TEXT else values
    item = values[place]
    if kind.form is Form.TEXT:
        return text_item(item)
    if isinstance(item, h5py.Reference):
        return "a reference" if item else "a null reference"
    if kind.form is Form.COMPOUND:
        return {name: _field_element(field, values[name], place) for name, field in kind.fields}
    return item.item() if isinstance(item, np.generic) and item.dtype.kind not in "fc" else item
