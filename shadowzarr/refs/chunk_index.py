"""Chunk indexes: where the chunks of a large array are, as an array of (offset, nbytes).

The array is uint64, shaped like the chunk grid plus a last axis of length 2: the layout of the index
of Zarr v3's sharding codec. Chunks that were never written hold 2**64 - 1 twice. On disk an index is
an ordinary zarr array, cut so that one index chunk covers about 65,536 data chunks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InvalidReferencesError
from .byte_range import ChunkLocation
from .document import IndexArray
from .node_checks import check_array
from .zarr_metadata import array_metadata

MISSING = 2**64 - 1
"""Offset and size of a chunk that was never written."""

ENTRIES_PER_CHUNK = 65_536
"""Data chunks that one index chunk covers: about 300 KB compressed, one request."""


CHUNK_INDEX_THRESHOLD = 1000
"""Chunks above which an array has a chunk index."""

_MAX_EMPTY_ENTRIES = 16
"""Entries of an index per written chunk, above which listing the chunks is smaller than an index."""


def is_worth_an_index(grid: tuple[int, ...], count: int) -> bool:
    """Whether an index of a chunk grid is smaller than a list of the chunks that were written."""
    return entries(grid) <= _MAX_EMPTY_ENTRIES * count


def index_chunk_shape(grid: tuple[int, ...]) -> tuple[int, ...]:
    """Chunk shape of an index array, the last axis of 2 included.

    Trailing axes stay whole as long as an index chunk holds at most `ENTRIES_PER_CHUNK` entries:
    a grid of (2048, 160) gives (409, 160, 2).
    """
    budget = ENTRIES_PER_CHUNK
    shape: list[int] = []
    for extent in reversed(grid):
        edge = max(1, min(extent, budget))
        shape.append(edge)
        budget //= edge
    return (*reversed(shape), 2)


def index_array_metadata(grid: tuple[int, ...]) -> dict[str, Any]:
    """``zarr.json`` of the index array of a chunk grid: Blosc (zstd, byte shuffle)."""
    return array_metadata(
        shape=(*grid, 2),
        data_type="uint64",
        chunk_shape=index_chunk_shape(grid),
        codecs=[
            {"name": "bytes", "configuration": {"endian": "little"}},
            {
                "name": "blosc",
                "configuration": {
                    "typesize": 8,
                    "cname": "zstd",
                    "clevel": 5,
                    "shuffle": "shuffle",
                    "blocksize": 0,
                },
            },
        ],
        fill_value=MISSING,
    )


def check_index_metadata(metadata: Mapping[str, Any], name: str) -> None:
    """Refuse metadata that are not those of an index array.

    Parameters
    ----------
    metadata : mapping
        The array's ``zarr.json``.
    name : str
        What messages call the array.

    Raises
    ------
    InvalidReferencesError
        With what was found.
    """
    check_array(metadata, name)
    grid, shape = metadata["chunk_grid"], tuple(metadata["shape"])
    if grid["name"] != "regular":
        raise InvalidReferencesError(
            f"{name} has a {grid['name']} chunk grid; a chunk index has a regular one"
        )
    edges = tuple(grid["configuration"]["chunk_shape"])
    if metadata["data_type"] != "uint64" or shape[-1:] != (2,) or edges[-1:] != (2,):
        raise InvalidReferencesError(
            f"{name} is a {metadata['data_type']} array of shape {shape} in chunks of {edges}; a chunk index "
            "is uint64 and its last axis is 2"
        )


def empty_index(grid: tuple[int, ...]) -> IndexArray:
    """An index array in which every chunk is missing."""
    return np.full((*grid, 2), MISSING, dtype=np.uint64)


def entry_location(url: str, offset: int, nbytes: int) -> ChunkLocation | None:
    """Location of a chunk by its index entry; None for a chunk that was never written."""
    if offset == MISSING and nbytes == MISSING:
        return None
    return ChunkLocation(url, int(offset), int(nbytes))


def positions(grid: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Coordinates of a grid in C order, one by one: a document may claim a grid that fits into no memory."""
    if not grid:
        yield ()
        return
    for first in range(grid[0]):
        for rest in positions(grid[1:]):
            yield first, *rest


def entries(grid: tuple[int, ...]) -> int:
    """Number of chunks of a grid."""
    return math.prod(grid)
