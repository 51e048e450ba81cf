"""The chunks of one array that the document has: their coordinates, regions, stored bytes and values."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ...errors import ShadowzarrError
from ...hdf5_types.defaults import chunk_shape
from ...refs.chunk_key import chunk_key
from ...store.rfs_store import RfsStore

AT_ONCE = 32
"""Chunks that are read at the same time when their bytes are copied."""

PIECE_BYTES = 16 * 2**20
"""Bytes of an array up to which all of it is read at once."""

Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A box inside an array.

    Attributes
    ----------
    start, count : tuple of int
        First element and number of elements along each axis.
    """

    start: Coordinates
    count: Coordinates

    @property
    def selection(self) -> tuple[slice, ...]:
        """As numpy and zarr are asked for it."""
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.count, strict=True))


def decoded(array: Any, selection: Any) -> Any:
    """What zarr reads.

    Raises
    ------
    ValueError
        When a codec cannot make values of the stored bytes, whatever it raises.
    """
    try:
        return array[selection]
    except ShadowzarrError:
        raise
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"its chunks cannot be decoded ({type(error).__name__}: {error})") from error


class ArrayChunks:
    """One array of a document.

    Parameters
    ----------
    store : RfsStore
        The document.
    name : str
        Path of the array, without leading slash.
    metadata : mapping
        Its ``zarr.json``.
    coordinates : sequence of tuple of int
        Chunks that the document has.
    """

    def __init__(
        self,
        store: RfsStore,
        name: str,
        metadata: Mapping[str, Any],
        coordinates: Sequence[Coordinates],
    ) -> None:
        self._store = store
        self._name = name
        self._coordinates = coordinates
        self.shape: Coordinates = tuple(metadata["shape"])
        self.chunk_shape: Coordinates = tuple(chunk_shape(metadata))
        self._array: Any = None

    def pieces(self) -> Iterator[Region]:
        """Regions that cover what the document has, small arrays whole."""
        coordinates = self._coordinates
        if not coordinates or 0 in self.shape:
            return
        whole = math.prod(-(-n // edge) for n, edge in zip(self.shape, self.chunk_shape, strict=True))
        if len(coordinates) == whole and self.nbytes() <= PIECE_BYTES:
            yield Region((0,) * len(self.shape), self.shape)
            return
        for place in coordinates:
            start = tuple(c * edge for c, edge in zip(place, self.chunk_shape, strict=True))
            ends = zip(self.shape, start, self.chunk_shape, strict=True)
            yield Region(start, tuple(min(edge, n - a) for n, a, edge in ends))

    def nbytes(self) -> int:
        """Bytes of all values, about."""
        return math.prod(self.shape) * int(self.array.dtype.itemsize)

    @property
    def array(self) -> Any:
        """The zarr array."""
        if self._array is None:
            self._array = zarr.open_array(self._store, path=self._name, mode="r", zarr_format=3)
        return self._array

    def values(self, region: Region) -> np.ndarray[Any, np.dtype[Any]]:
        """Values of a region, an array also where zarr gives a bare element."""
        found = decoded(self.array, region.selection if region.count else ())
        if isinstance(found, np.ndarray):
            return found
        holder = np.empty(region.count, self.array.dtype)
        holder[...] = found
        return holder

    def stored(self) -> Iterator[tuple[Coordinates, bytes]]:
        """Stored bytes of the chunks that the document has, a few at a time."""
        coordinates = self._coordinates
        for start in range(0, len(coordinates), AT_ONCE):
            batch = coordinates[start : start + AT_ONCE]
            yield from zip(batch, sync(self._read(batch)), strict=True)

    async def _read(self, batch: Sequence[Coordinates]) -> list[bytes]:
        prototype = default_buffer_prototype()
        reads = [self._store.get(chunk_key(self._name, place), prototype) for place in batch]
        found = await asyncio.gather(*reads)
        return [item.to_bytes() if item is not None else b"" for item in found]
