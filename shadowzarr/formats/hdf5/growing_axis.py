"""Which chunk an entry of an extensible array is (HDF5 File Format, VII.D "The Extensible Array Index").

HDF5 keeps the chunks of a dataset with one unlimited axis in an array in which that axis comes first. Its
queries for chunks (2.0 and before) count along the axes as if it did not, so that they report coordinates
that are wrong, and outside the data, unless the first axis is the unlimited one. Reading by coordinates is
right, which tells the two apart.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from h5py import h5d, h5s

from .reasons import READ_ERRORS

Coordinates = npt.NDArray[np.int64]

_MANY = 2**30
"""Chunks beside the growing axis from which their numbers may not fit into 64 bits."""


def true_coordinates(dataset: h5d.DatasetID, reported: Coordinates) -> Coordinates:
    """The coordinates of chunks, from those that HDF5 reports.

    Parameters
    ----------
    dataset : h5py.h5d.DatasetID
        A chunked dataset.
    reported : numpy.ndarray
        Shape (chunks, axes): chunk coordinates.
    """
    edges = dataset.get_create_plist().get_chunk()
    most = dataset.get_space().get_simple_extent_dims(True)
    growing = [axis for axis, extent in enumerate(most) if extent == h5s.UNLIMITED]
    if len(growing) != 1 or not growing[0] or reported[:, : growing[0]].any():
        return reported
    grid = [
        1 if extent == h5s.UNLIMITED else -(-extent // edge) for extent, edge in zip(most, edges, strict=True)
    ]
    counted = _counted_from(reported, growing[0], grid)
    return counted if _is_stored(dataset, reported, counted, edges) else reported


def _counted_from(reported: Coordinates, axis: int, grid: list[int]) -> Coordinates:
    """Coordinates by an entry's number in the array, in which the unlimited axis comes first."""
    after = math.prod(grid[axis + 1 :])
    exact = reported if math.prod(grid) < _MANY else reported.astype(object)
    rest = exact[:, axis] * after
    for place in range(axis + 1, len(grid)):
        rest = rest + exact[:, place] * math.prod(grid[place + 1 :])
    found = np.zeros_like(reported)
    for place in [each for each in reversed(range(len(grid))) if each != axis]:
        rest, found[:, place] = np.divmod(rest, grid[place])
    found[:, axis] = rest
    return found


def _is_stored(
    dataset: h5d.DatasetID, reported: Coordinates, counted: Coordinates, edges: tuple[int, ...]
) -> bool:
    """Whether there is a chunk at coordinates that only the count gives."""
    starts = counted * np.array(edges, np.int64)
    moved = (counted != reported).any(axis=1) & (starts < np.array(dataset.shape, np.int64)).all(axis=1)
    if not moved.any():
        return False
    try:
        dataset.read_direct_chunk(tuple(starts[moved.argmax()].tolist()))
    except READ_ERRORS:
        return False
    return True
