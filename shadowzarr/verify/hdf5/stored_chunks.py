"""Which chunks of a large array hold anything on either side.

An array may be far larger than its file: what was never written is fill value on both sides, and the fill
values themselves are compared. So of a large array only chunks that one side stores are read, and a
few regions besides. Whenever a side cannot say what it stores, everything is read.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import h5py

from ...refs import gen
from ...refs.chunk_key import parse_chunk_key
from ...refs.document import Rfs
from ..regions import Coordinates, grid_shape

READ_ALL_BELOW = 256 * 2**20
"""Bytes up to which an array is read whole, stored or not."""


def stored_coordinates(
    rfs: Rfs,
    path: str,
    dataset: h5py.Dataset,
    shape: tuple[int, ...],
    chunk_shape: tuple[int, ...],
    itemsize: int,
) -> list[Coordinates] | None:
    """Chunks of a large array that either side stores; None for all.

    Parameters
    ----------
    rfs : Rfs
        The loaded document.
    path : str
        The array.
    dataset : h5py.Dataset
        The same in the original.
    shape, chunk_shape : tuple of int
        Of the zarr array.
    itemsize : int
        Bytes of an element.
    """
    if not shape or math.prod(shape) * itemsize <= READ_ALL_BELOW:
        return None
    listed, written = _listed(rfs, path), _written(dataset, shape, chunk_shape)
    if listed is None or written is None:
        return None
    grid = grid_shape(shape, chunk_shape)
    return sorted(
        place for place in listed | written if all(at < end for at, end in zip(place, grid, strict=True))
    )


def _listed(rfs: Rfs, path: str) -> set[Coordinates] | None:
    if path in rfs.get("indexes", {}) or any(gen.array_path(entry) == path for entry in rfs.get("gen", [])):
        return None
    prefix = f"{path}/c/"
    parsed = (parse_chunk_key(key) for key in rfs["refs"] if key.startswith(prefix))
    return {found[1] for found in parsed if found is not None and found[0] == path}


def _written(
    dataset: h5py.Dataset, shape: tuple[int, ...], chunk_shape: tuple[int, ...]
) -> set[Coordinates] | None:
    properties = dataset.id.get_create_plist()
    layout = properties.get_layout()
    if layout == h5py.h5d.CONTIGUOUS and not properties.get_external_count():
        return set() if dataset.id.get_space_status() == h5py.h5d.SPACE_STATUS_NOT_ALLOCATED else None
    if layout != h5py.h5d.CHUNKED:
        return None
    starts: list[tuple[int, ...]] = []
    dataset.id.chunk_iter(lambda info: starts.append(tuple(info.chunk_offset)))
    if _is_misreported(dataset, starts):
        return None
    return {place for start in starts for place in _touched(start, dataset.chunks, shape, chunk_shape)}


def _is_misreported(dataset: h5py.Dataset, starts: list[tuple[int, ...]]) -> bool:
    """Whether HDF5 may report chunks in wrong places.

    It does when one axis, not the first, is unlimited: then no chunk is beyond the start of the axes before
    that one.
    """
    growing = [axis for axis, extent in enumerate(dataset.maxshape) if extent is None]
    return len(growing) == 1 and growing[0] > 0 and not any(any(start[: growing[0]]) for start in starts)


def _touched(start: tuple[int, ...], edges: Any, shape: tuple[int, ...], chunk_shape: tuple[int, ...]) -> Any:
    """Chunks of the zarr array that one chunk of the dataset reaches into."""
    ranges = [
        range(at // cut, -(-min(at + edge, extent) // cut))
        for at, edge, cut, extent in zip(start, edges, chunk_shape, shape, strict=False)
    ]
    rest = [
        range(-(-extent // cut))
        for extent, cut in zip(shape[len(ranges) :], chunk_shape[len(ranges) :], strict=True)
    ]
    return itertools.product(*ranges, *rest)
