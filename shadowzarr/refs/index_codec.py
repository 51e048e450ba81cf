"""Index chunks ↔ bytes, as `chunk_index.index_array_metadata` says: Blosc with zstd and byte shuffle.

With numcodecs rather than through a zarr array, so that writing references does not import zarr, and
reading one entry costs one decoding. The result is what zarr itself writes and reads.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator

import numpy as np
from numcodecs import Blosc

from .chunk_index import MISSING, index_chunk_shape
from .document import IndexArray
from .zarr_metadata import chunk_grid_shape

_BLOSC = Blosc(cname="zstd", clevel=5, shuffle=Blosc.SHUFFLE, typesize=8)
_HEADER = 16  # bytes; c-blosc, README_CHUNK_FORMAT


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
    _check_header(bytes(data[:_HEADER]), len(data), math.prod(chunk_shape) * 8)
    try:
        decoded = _BLOSC.decode(data)
    except RuntimeError as error:
        raise ValueError(f"not a Blosc buffer: {error}") from error
    return np.frombuffer(decoded, dtype="<u8").reshape(chunk_shape)


def _check_header(header: bytes, length: int, expected: int) -> None:
    """Compare what a header says with what is there.

    The decoder allocates what the header claims, whatever follows, and reads past the end of the bytes where
    their length is another one (c-blosc 1.21 then ends the process).
    """
    if len(header) < _HEADER:
        raise ValueError(f"{length} bytes are no Blosc buffer")
    _, _, _, item, decoded, block, encoded = struct.unpack("<BBBBIII", header)
    if decoded != expected:
        raise ValueError(f"its header says {decoded:,} bytes, expected {expected:,}")
    if encoded != length:
        raise ValueError(f"its header says {encoded:,} bytes of Blosc, there are {length:,}")
    if item == 0 or (expected and not 0 < block <= expected):
        raise ValueError(f"its header says blocks of {block:,} bytes, elements of {item}")


def _region(coordinates: tuple[int, ...], shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(c * edge, (c + 1) * edge) for c, edge in zip(coordinates, shape, strict=True))
