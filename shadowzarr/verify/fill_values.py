"""Whether the fill value of an array is that of the dataset. Values are compared by ``values``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import zarr

from .kinds import Form, Kind
from .values import mismatches, numbered_array


def same_fill(kind: Kind, fill: Any, node: zarr.Array[Any]) -> bool:
    """Whether zarr's fill value is HDF5's.

    Parameters
    ----------
    kind : Kind
        What the original holds.
    fill : scalar or array
        As h5py gives it.
    node : zarr.Array
        The array that stands for the dataset.
    """
    given = node.fill_value
    if kind.axes:
        kind = replace(kind, axes=())
        fill = np.asarray(fill).reshape(-1)[0]
    if kind.form is Form.COMPOUND:
        return all(
            _same_fill_field(field, np.asarray(fill)[name], np.asarray(given)[name])
            for name, field in kind.fields
        )
    return _same_fill_item(kind, fill, given)


def _same_fill_field(kind: Kind, fill: Any, given: Any) -> bool:
    """Whether the fill value of a field is HDF5's, which for an array has an element for each part."""
    if not kind.axes and kind.form is not Form.COMPOUND:
        return _same_fill_item(kind, fill, given)
    shown = numbered_array(np.asarray(given), kind.axes) if kind.axes else np.asarray(given)
    different = mismatches(kind, np.asarray(fill), shown, leads=lambda _reference, path: path == "")
    return not bool(np.asarray(different).any())


def _same_fill_item(kind: Kind, fill: Any, given: Any) -> bool:
    if kind.form in (Form.REFERENCE, Form.REGION):
        return str(given) == ""
    if kind.form is Form.PLAIN:
        given = np.asarray(given, dtype=kind.dtype)
        fill = np.asarray(fill).reshape(())
    elif kind.form is Form.TEXT:
        fill, given = np.asarray(fill, dtype=object).reshape(()), np.asarray(given, dtype=object).reshape(())
    return not bool(mismatches(kind, fill, given, leads=lambda _reference, path: path == "").any())
