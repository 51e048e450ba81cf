"""The right names of an array's axes: those of the dimension scales attached to the dataset.

Verification's own reading of the HDF5 Dimension Scale Specification, and of what NetCDF4 adds to it.
"""

from __future__ import annotations

from typing import Any

import h5py

from .original_file import READ_ERRORS
from .structure import Pair, Structure

Names = tuple[str | None, ...]


def wanted_names(structure: Structure, pair: Pair) -> Names | None:
    """Names of a dataset's axes; None when it has no scales, or they do not fit its axes."""
    dataset = pair.item
    if not dataset.shape:
        return None
    try:
        if "DIMENSION_LIST" in dataset.attrs and _lists_references(dataset):
            axes = [list(axis) for axis in dataset.attrs["DIMENSION_LIST"]]
            names: Names = tuple(_scale_name(structure, dataset, axis) for axis in axes)
        elif _is_scale(dataset):
            names = _own_names(dataset, pair.path)
        else:
            return None
    except READ_ERRORS:
        return None
    return names if len(names) == len(dataset.shape) and any(names) else None


def _lists_references(dataset: h5py.Dataset) -> bool:
    item = h5py.check_vlen_dtype(dataset.attrs.get_id("DIMENSION_LIST").dtype)
    return item is not None and h5py.check_ref_dtype(item) is h5py.Reference


def _scale_name(structure: Structure, dataset: h5py.Dataset, axis: list[Any]) -> str | None:
    if len(axis) != 1 or not axis[0]:
        return None
    identity = structure.original.target(axis[0], dataset)
    if identity is None:
        return None
    path = structure.placed.get(identity)
    if path is None:
        path = dataset.file[axis[0]].name or ""
    return _last(path)


def _last(path: str) -> str | None:
    name = path.rpartition("/")[2]
    try:
        name.encode()
    except UnicodeEncodeError:
        return None
    return name or None


def _is_scale(dataset: h5py.Dataset) -> bool:
    return bool(h5py.h5ds.is_scale(dataset.id))


def _own_names(dataset: h5py.Dataset, path: str) -> Names:
    if len(dataset.shape) == 1:
        return (_last(path),)
    numbers = dataset.attrs.get("_Netcdf4Coordinates")
    if numbers is None or len(numbers) != len(dataset.shape):
        return ()
    found: dict[int, str] = {}
    group = dataset.parent
    while True:
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                continue
            if "_Netcdf4Dimid" in group[name].attrs:
                found.setdefault(int(group[name].attrs["_Netcdf4Dimid"]), name)
        if group.name == "/":
            return tuple(found.get(int(number)) for number in numbers)
        group = group.parent
