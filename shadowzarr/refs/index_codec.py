"""Index chunks ↔ bytes, as `chunk_index.index_array_metadata` says: Blosc with zstd and byte shuffle.

With numcodecs rather than through a zarr array, so that writing references does not import zarr, and
reading one entry costs one decoding. The result is what zarr itself writes and reads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numcodecs import Blosc

from .blosc_header import check_blosc_header
from .chunk_index import MISSING, index_chunk_shape
from .document import IndexArray
from .zarr_metadata import chunk_grid_shape

_BLOSC = Blosc(cname="zstd", clevel=5, shuffle=Blosc.SHUFFLE, typesize=8)


def encode_index(index: IndexArray) -> Iterator[tuple[tuple[int, ...], bytes]]:
    """Index chunks of an index array, with their coordinates.

    Those with no entry are written too: then an index chunk that cannot be found is an error, and
    never taken for chunks that were not written.

    Parameters
    ----------
    index : numpy.ndarray
        uint64, chunk grid plus a last axis of 2.
    """
    shape = index_chunk_shape(index.shape[:-1])
    for coordinates in itertools.product(*map(range, chunk_grid_shape(index.shape, shape))):
        part = index[_region(coordinates, shape)]
        whole = np.full(shape, MISSING, dtype="<u8")
        whole[tuple(slice(extent) for extent in part.shape)] = part
        yield coordinates, bytes(_BLOSC.encode(whole))


def decode_index_chunk(data: bytes | memoryview, chunk_shape: tuple[int, ...]) -> IndexArray:
    """Entries of one index chunk: uint64, of the chunk's full shape.

    Raises
    ------
    ValueError
        When the bytes are no index chunk of that shape.
    """
    claimed, expected = check_blosc_header(data), math.prod(chunk_shape) * 8
    if claimed != expected:
        raise ValueError(f"its header says {claimed:,} bytes, expected {expected:,}")
    try:
        decoded = _BLOSC.decode(data)
    except RuntimeError as error:
        raise ValueError(f"not a Blosc buffer: {error}") from error
    return np.frombuffer(decoded, dtype="<u8").reshape(chunk_shape)


def _region(coordinates: tuple[int, ...], shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(c * edge, (c + 1) * edge) for c, edge in zip(coordinates, shape, strict=True))
