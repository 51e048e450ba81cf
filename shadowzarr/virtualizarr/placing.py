"""The chunks of a manifest → the builder: a rule where they are evenly spaced, an index, or a list."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..builder import RfsBuilder
from .manifest_table import Coordinates, ManifestTable


def place_chunks(
    builder: RfsBuilder,
    path: str,
    table: ManifestTable,
    locations: Mapping[str, str],
    *,
    rule_above: int | None,
    chunk_index_threshold: int | None,
) -> None:
    """Add the chunks of an array.

    Parameters
    ----------
    builder : RfsBuilder
        It has the array.
    path : str
        The array's path.
    table : ManifestTable
        Where they are.
    locations : mapping
        By the paths of the manifest.
    rule_above : int or None
        Chunks above which evenly spaced ones are a rule; None for never.
    chunk_index_threshold : int or None
        Chunks in one file above which there is an index; None for never.
    """
    for at, data in table.inlined.items():
        builder.add_inline_chunk(path, at, data)
    count = len(table.positions)
    if not count:
        return
    strides = _strides(table) if rule_above is not None and count > rule_above else None
    if strides is not None:
        builder.add_spaced_chunks(
            path,
            url=locations[table.paths[0]],
            start=int(table.offsets[0]),
            length=int(table.lengths[0]),
            counts=table.grid,
            strides=strides,
        )
        return
    # Two spellings of one file are one file; an index names one, that of most chunks.
    numbers = {location: n for n, location in enumerate(dict.fromkeys(locations[p] for p in table.paths))}
    files = np.array([numbers[locations[path]] for path in table.paths], np.int64)[table.files]
    most = int(np.bincount(files).argmax())
    coordinates = table.coordinates
    for location, number in numbers.items():
        rows = np.flatnonzero(files == number)
        builder.add_chunks(
            path,
            url=location,
            coordinates=coordinates[rows],
            offsets=table.offsets[rows],
            nbytes=table.lengths[rows],
            chunk_index_threshold=chunk_index_threshold if number == most and table.grid else None,
        )


def _strides(table: ManifestTable) -> Sequence[int] | None:
    """Bytes from chunk to chunk along each axis, when all are there, in one file, and evenly spaced."""
    grid = table.grid
    if len(table.paths) != 1 or len(table.positions) != math.prod(grid) or table.inlined:
        return None
    if not grid or (table.lengths != table.lengths[0]).any():
        return None
    offsets = table.offsets.astype(np.int64).reshape(grid)
    expected = np.full(grid, offsets.flat[0], np.int64)
    strides: list[int] = []
    for axis, count in enumerate(grid):
        step = 0 if count == 1 else int(offsets[_second(axis, grid)] - offsets.flat[0])
        strides.append(step)
        shape = [count if number == axis else 1 for number in range(len(grid))]
        expected += (np.arange(count, dtype=np.int64) * step).reshape(shape)
    return strides if bool((expected == offsets).all()) else None


def _second(axis: int, grid: Coordinates) -> Coordinates:
    return tuple(int(number == axis) for number in range(len(grid)))
