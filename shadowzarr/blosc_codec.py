"""zarr's ``blosc`` codec, which looks at a chunk's header first: damaged bytes end no process.

`RfsStore` serves ``zarr.json`` with the name `CHECKED_BLOSC` in place of ``blosc``, so that neither other
stores nor zarr's global configuration are touched; metadata written from such an array says ``blosc`` again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from zarr.codecs import BloscCodec
from zarr.registry import register_codec

from .errors import DamagedSourceError
from .refs.blosc_header import check_blosc_header

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer

BLOSC = "blosc"
"""Name of zarr's own codec."""

CHECKED_BLOSC = "shadowzarr.blosc"
"""Name under which `CheckedBloscCodec` is registered."""

_ROOM = 2**20
"""Bytes beyond twice the size of a chunk that it may have before this codec: checksums, and headers."""


@dataclass(frozen=True, init=False)
class CheckedBloscCodec(BloscCodec):
    """The ``blosc`` codec for bytes that nobody vouches for."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make the codec from its entry in ``zarr.json``."""
        return super().from_dict({**data, "name": BLOSC})

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        try:
            claimed = check_blosc_header(memoryview(chunk_bytes.as_numpy_array()).cast("B"))
            _check_room(claimed, chunk_spec)
            return super()._decode_sync(chunk_bytes, chunk_spec)
        except (ValueError, RuntimeError) as error:
            raise DamagedSourceError(f"a chunk behind Blosc is damaged: {error}") from error


def _check_room(claimed: int, chunk_spec: ArraySpec) -> None:
    """Refuse what would take much more memory than the chunk has; that of text is not known."""
    dtype = chunk_spec.dtype.to_native_dtype()
    most = 2 * math.prod(chunk_spec.shape) * dtype.itemsize + _ROOM
    if not dtype.hasobject and dtype.kind != "T" and claimed > most:
        raise ValueError(f"its header says {claimed:,} bytes, which no chunk of this array has")


register_codec(CHECKED_BLOSC, CheckedBloscCodec)
