"""Values of a region as h5py shows them, where ``dataset[region]`` alone does not do.

Opaque values are read in their own type, and text that was never written by the chunks that exist.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import h5py
import numpy as np

from ..regions import Region, region_shape
from .kinds import Form, Kind


def read_dataset(dataset: h5py.Dataset, selection: Region, kind: Kind, region: Region) -> Any:
    """A region of a dataset; ``region`` has the axes of an array datatype besides.

    HDF5 2.0 cannot read text that was never written from a file opened for reading when the fill value
    is text too (HDFGroup/hdf5#5394); such a region is put together from the chunks that exist.
    """
    if _is_opaque(dataset):
        return _unconverted_values(dataset, selection)
    try:
        values = dataset[selection] if selection else dataset[()]
    except OSError:
        if kind.form in (Form.COMPOUND, Form.PLAIN) and not dataset.dtype.hasobject:
            return _unconverted_values(dataset, selection)
        if kind.form is not Form.TEXT or dataset.chunks is None:
            raise
        values = _text_by_chunks(dataset, selection)
    if not kind.axes:
        return values
    return np.asarray(values)[(slice(None),) * len(selection) + region[len(selection) :]]


def _is_opaque(dataset: h5py.Dataset) -> bool:
    tid = dataset.id.get_type()
    return bool(tid.get_class() == h5py.h5t.OPAQUE and dataset.dtype.kind == "V")


def _unconverted_values(dataset: h5py.Dataset, selection: Region) -> Any:
    """Opaque values, also in a compound, in their own type.

    h5py asks for a type without their tag, which HDF5 refuses.
    """
    tid, space = dataset.id.get_type(), dataset.id.get_space()
    count = region_shape(selection)
    values = np.zeros(count, dataset.dtype)
    memory = h5py.h5s.create_simple(count) if selection else h5py.h5s.create(h5py.h5s.SCALAR)
    if selection:
        space.select_hyperslab(tuple(part.start for part in selection), count)
    dataset.id.read(memory, space, values, tid)
    return values


def _text_by_chunks(dataset: h5py.Dataset, selection: Region) -> Any:
    values = np.empty(region_shape(selection), dtype=object)
    values[...] = dataset.fillvalue
    ranges = [
        range(part.start // edge, -(-part.stop // edge))
        for part, edge in zip(selection, dataset.chunks, strict=True)
    ]
    for place in itertools.product(*ranges):
        common = tuple(
            slice(max(part.start, at * edge), min(part.stop, (at + 1) * edge))
            for part, at, edge in zip(selection, place, dataset.chunks, strict=True)
        )
        inside = tuple(
            slice(part.start - whole.start, part.stop - whole.start)
            for part, whole in zip(common, selection, strict=True)
        )
        with contextlib.suppress(OSError):  # a chunk that was never written
            values[inside] = dataset[common]
    return values
