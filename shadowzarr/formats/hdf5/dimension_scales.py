"""Dimension scales → names of an array's axes (HDF5 Dimension Scale Specification; NetCDF4 on top of it).

A dataset lists, for each axis, references to the scales attached to it; the name of the axis is the last
part of that scale's path. A scale of one axis names its own axis, as a coordinate variable does. One of
several axes, which only NetCDF4 knows, lists the numbers of its dimensions instead. An axis without a
scale, or with several, has no name.
"""

from __future__ import annotations

from typing import Any

import h5py
from h5py import h5a, h5t

from .object_names import is_unicode
from .opened_object import OpenedDataset
from .reasons import CannotRepresentError, reading
from .references import ReferenceResolver

SCALES, CLASS = "DIMENSION_LIST", "CLASS"
IS_SCALE = b"DIMENSION_SCALE"
COORDINATES, NUMBER = "_Netcdf4Coordinates", "_Netcdf4Dimid"

Names = tuple[str | None, ...]


def dimension_names(opened: OpenedDataset, path: str, resolver: ReferenceResolver) -> Names:
    """Names of a dataset's axes.

    Parameters
    ----------
    opened : OpenedDataset
        The dataset.
    path : str
        Its path.
    resolver : ReferenceResolver
        Paths of scales.

    Returns
    -------
    tuple of (str or None)
        One for each axis; empty when no axis has a name, or what the file says does not fit the axes.
    """
    try:
        with reading():
            shape = opened.shape or ()
            names = (_attached(opened, resolver) or _of_scale(opened, path)) if shape else []
    except CannotRepresentError:
        return ()  # the attribute itself is left out by name, or the axes have no names for zarr
    fits = any(names) and len(names) == len(shape)
    return tuple(name if name and is_unicode(name) else None for name in names) if fits else ()


def _attached(opened: OpenedDataset, resolver: ReferenceResolver) -> list[str | None]:
    if not opened.has_attribute(SCALES.encode()):
        return []
    tid = h5a.open(opened.id, SCALES.encode()).get_type()
    if tid.get_class() != h5t.VLEN or not tid.get_super().equal(h5t.STD_REF_OBJ):
        return []
    before = resolver.dangling
    scales = [[resolver.name_of(reference) for reference in axis] for axis in opened.shown.attrs[SCALES]]
    resolver.dangling = before
    return [axis[0] if len(axis) == 1 else None for axis in scales]


def _of_scale(opened: OpenedDataset, path: str) -> list[str | None]:
    if not opened.has_attribute(CLASS.encode()):
        return []
    dataset = opened.shown
    if _text(dataset, CLASS) != IS_SCALE:
        return []
    if len(dataset.shape) == 1:
        return [path.rpartition("/")[2]]
    numbers = _number(dataset, COORDINATES)
    if numbers is None or len(numbers) != len(dataset.shape):
        return []
    names = _dimensions(dataset)
    return [names.get(number) for number in numbers]


def _dimensions(dataset: h5py.Dataset) -> dict[int, str]:
    """Dimensions by number, those of the dataset's own group and of the groups around it."""
    names: dict[int, str] = {}
    path = dataset.name.strip("/")  # in its own file, which may be a linked one
    while path:
        path = path.rpartition("/")[0]
        group = dataset.file[f"/{path}"]
        for name in group:
            if isinstance(group.get(name, getlink=True), h5py.HardLink):
                number = _number(group[name], NUMBER)
                if number is not None and len(number) == 1:
                    names.setdefault(number[0], name)
    return names


def _number(item: Any, name: str) -> list[int] | None:
    """Integers of an attribute; None when there are none."""
    if not h5a.exists(item.id, name.encode()):
        return None
    attribute = h5a.open(item.id, name.encode())
    if attribute.shape is None or attribute.get_type().get_class() != h5t.INTEGER:
        return None
    value = item.attrs[name]
    return [int(each) for each in value] if attribute.shape else [int(value)]


def _text(item: Any, name: str) -> bytes:
    if not h5a.exists(item.id, name.encode()):
        return b""
    attribute = h5a.open(item.id, name.encode())
    if attribute.shape != () or attribute.get_type().get_class() != h5t.STRING:
        return b""
    value = item.attrs[name]
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
