"""The Zarr codec ``shadowzarr.hdf5_filters``: chunks as an HDF5 file stores them.

Its configuration is the filter pipeline of the HDF5 dataset::

    {"name": "shadowzarr.hdf5_filters",
     "configuration": {"filters": [{"id": 32008, "name": "bitshuffle", "cd_values": [0, 5, 2, 0, 2]}]}}

It takes the bytes of a whole chunk, so it is the first codec after ``bytes``. Plain ``zarr.open`` finds it
by an entry point wherever shadowzarr is installed. HDF5 runs in processes of its own (`decoder_pool`): this
one does not even import h5py.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from zarr.abc.codec import BytesBytesCodec
from zarr.registry import register_codec

from ..errors import DamagedSourceError, InvalidReferencesError, UnsupportedError
from ..h5py_lock import collect_without_waiting
from .decoder_pool import decode, encode
from .names import CODEC_NAME, Filters, codec_entry

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer

_MAX_ID, _MAX_VALUE = 2**16 - 1, 2**32 - 1


@dataclass(frozen=True)
class HDF5FiltersCodec(BytesBytesCodec):
    """HDF5's filter pipeline.

    Attributes
    ----------
    filters : tuple of (int, tuple of int)
        Numbers and client data values, in the order in which they are applied.
    """

    is_fixed_size = False

    filters: Filters

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make the codec from its entry in ``zarr.json``.

        Raises
        ------
        InvalidReferencesError
            When the configuration is not as described above.
        """
        try:
            return cls(tuple(_parsed(entry) for entry in data["configuration"]["filters"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidReferencesError(
                f"the codec {CODEC_NAME} needs a configuration with a list of filters, "
                f"each with id and cd_values; {error!r}"
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """The entry in ``zarr.json``."""
        return codec_entry(self.filters)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Refused: what a filter makes of a chunk depends on the values."""
        raise UnsupportedError(f"the size of a chunk behind {CODEC_NAME} is not known beforehand")

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        nbytes = math.prod(chunk_spec.shape) * chunk_spec.dtype.to_native_dtype().itemsize
        stored = np.ascontiguousarray(chunk_bytes.as_numpy_array())
        values = np.frombuffer(decode(self.filters, stored, nbytes), np.uint8)
        if len(values) != nbytes:
            raise DamagedSourceError(f"a chunk decodes to {len(values):,} bytes, not {nbytes:,}")
        return chunk_spec.prototype.buffer.from_array_like(values)

    def _encode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        values = np.ascontiguousarray(chunk_bytes.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(bytes(encode(self.filters, values)))

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _encode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._encode_sync, chunk_bytes, chunk_spec)


def _parsed(entry: Mapping[str, Any]) -> tuple[int, tuple[int, ...]]:
    number, values = entry["id"], tuple(entry["cd_values"])
    if not all(type(value) is int and 0 <= value <= _MAX_VALUE for value in values):
        raise ValueError(f"cd_values of filter {number} are not whole numbers of 32 bits")
    if type(number) is not int or not 0 < number <= _MAX_ID:
        raise ValueError(f"{number!r} is not the number of an HDF5 filter")
    return number, values


register_codec(CODEC_NAME, HDF5FiltersCodec)
collect_without_waiting()
