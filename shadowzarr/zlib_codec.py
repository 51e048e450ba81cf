"""zarr's ``numcodecs.zlib`` codec, undone by libdeflate: the same bytes in about half the time.

Most recordings in archives are behind gzip, whose streams HDF5 stores in zlib's format (RFC 1950).
`RfsStore` serves ``zarr.json`` with the name `FAST_ZLIB` in place of ``numcodecs.zlib``, so that neither
other stores nor zarr's global configuration are touched; metadata written from such an array says
``numcodecs.zlib`` again. Whatever libdeflate refuses is left to zlib, whose word counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from deflate import DeflateError, zlib_decompress
from zarr.codecs.numcodecs import Zlib
from zarr.registry import register_codec

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer

ZLIB = "numcodecs.zlib"
"""Name of zarr's own codec."""

FAST_ZLIB = "shadowzarr.zlib"
"""Name under which `FastZlibCodec` is registered."""

_ROOM_FOR_CHECKSUMS = 64
"""Bytes that filters before this one may have added to a chunk."""

_MOST_RATIO = 1032
"""Deflate makes of a byte at most so many (RFC 1951); a chunk that claims more is no stream of that size."""


@dataclass(frozen=True, init=False, repr=False)
class FastZlibCodec(Zlib):
    """The ``numcodecs.zlib`` codec, decoding by libdeflate."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make the codec from its entry in ``zarr.json``."""
        return super().from_dict({**data, "name": ZLIB})

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        nbytes = math.prod(chunk_spec.shape) * chunk_spec.dtype.to_native_dtype().itemsize
        decoded = undeflated(chunk_data.as_numpy_array(), nbytes)
        if decoded is None:
            return super()._decode_sync(chunk_data, chunk_spec)
        return chunk_spec.prototype.buffer.from_bytes(decoded)


def undeflated(stored: Any, nbytes: int) -> bytearray | None:
    """Undo zlib's compression.

    Parameters
    ----------
    stored : buffer
        A zlib stream.
    nbytes : int
        Bytes that it is expected to hold, give or take a checksum.

    Returns
    -------
    bytearray or None
        Whatever the stream holds; None when it is damaged, or holds more.
    """
    if nbytes > _MOST_RATIO * len(stored):
        return None
    try:
        return zlib_decompress(stored, nbytes + _ROOM_FOR_CHECKSUMS)
    except DeflateError:
        return None  # zlib decodes it after all, or says what is wrong


register_codec(FAST_ZLIB, FastZlibCodec)
