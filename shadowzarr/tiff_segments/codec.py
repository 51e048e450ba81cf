"""The Zarr codec ``shadowzarr.tiff_segment``: chunks that are segments of a TIFF page.

It is the array-to-bytes codec of an array whose segments no other codec decodes as tifffile does: short
last strips behind a compression, bits in reversed order, 24-bit floats, samples of different depth. Its
configuration is a `SegmentForm`::

    {"name": "shadowzarr.tiff_segment",
     "configuration": {"byteorder": "little", "width": 374, "rows": 16, "samples": 3, "compression": 7,
                       "photometric": 6, "subsampling": [2, 2], "short_rows": 3}}

Plain ``zarr.open`` finds it by an entry point wherever shadowzarr is installed; decoding needs tifffile.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from zarr.abc.codec import ArrayBytesCodec
from zarr.registry import register_codec

from ..errors import DamagedSourceError, InvalidReferencesError, UnsupportedError
from .one_segment_file import SegmentForm, decode_segment

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

CODEC_NAME = "shadowzarr.tiff_segment"
"""Name in ``zarr.json``."""


@dataclass(frozen=True)
class TiffSegmentCodec(ArrayBytesCodec):
    """Segments of a TIFF page.

    Attributes
    ----------
    form : SegmentForm
        How each of them is stored.
    """

    is_fixed_size = False

    form: SegmentForm

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make the codec from its entry in ``zarr.json``.

        Raises
        ------
        InvalidReferencesError
            When the configuration is not a `SegmentForm`.
        """
        try:
            return cls(SegmentForm.from_json(data["configuration"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidReferencesError(
                f"the codec {CODEC_NAME} needs a configuration that says how a segment is stored; {error!r}"
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """The entry in ``zarr.json``."""
        return codec_entry(self.form)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Refused: it depends on the values."""
        raise UnsupportedError(f"the size of a chunk behind {CODEC_NAME} is not known beforehand")

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        dtype = chunk_spec.dtype.to_native_dtype()
        if math.prod(self.form.shape) != math.prod(chunk_spec.shape):
            raise InvalidReferencesError(
                f"chunks of shape {chunk_spec.shape} are no TIFF segments of shape {self.form.shape}"
            )
        values = decode_segment(self.form, np.ascontiguousarray(chunk_bytes.as_numpy_array()).data)
        if values.dtype != dtype:
            raise DamagedSourceError(f"a TIFF segment holds {values.dtype}, its array {dtype}")
        return chunk_spec.prototype.nd_buffer.from_numpy_array(values.reshape(chunk_spec.shape))

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _encode_single(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        raise UnsupportedError(f"{CODEC_NAME} reads segments of TIFF files and writes none")


def codec_entry(form: SegmentForm) -> dict[str, Any]:
    """The codec's entry in ``zarr.json``."""
    return {"name": CODEC_NAME, "configuration": form.to_json()}


register_codec(CODEC_NAME, TiffSegmentCodec)
