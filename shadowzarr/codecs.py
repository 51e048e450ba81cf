"""Codecs of our own, registered with zarr.

`PartialBytesCodec` is zarr's ``bytes`` codec that reads only the part of a chunk that was asked for;
zarr itself fetches whole chunks of every array that is not sharded. `RfsStore` serves ``zarr.json``
with the name `PARTIAL_BYTES` in place of ``bytes``, so that neither other stores nor zarr's global
configuration are touched; metadata written from such an array says ``bytes`` again. `register_named`
brings codecs that a document names and zarr does not find by itself. Nothing here knows stores or files.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from zarr.abc.codec import ArrayBytesCodecPartialDecodeMixin
from zarr.abc.store import RangeByteRequest
from zarr.codecs import BytesCodec
from zarr.errors import UnknownCodecError
from zarr.registry import get_codec_class, register_codec

if TYPE_CHECKING:
    from zarr.abc.store import ByteGetter
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import NDBuffer

PARTIAL_BYTES = "shadowzarr.bytes"
"""Name under which `PartialBytesCodec` is registered."""

_IMAGECODECS = "imagecodecs_"
_OWN = {"shadowzarr.tiff_segment": "shadowzarr.tiff_segments.codec"}


@dataclass(frozen=True)
class PartialBytesCodec(BytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """The ``bytes`` codec, reading parts of chunks.

    Basic selections (integers and slices with a positive step) fetch the bytes from the first to
    the last selected element; anything else fetches the whole chunk.
    """

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make the codec from its entry in ``zarr.json``."""
        return super().from_dict({**data, "name": "bytes"})

    async def _decode_partial_single(
        self, byte_getter: ByteGetter, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        block = Block.from_selection(selection, chunk_spec.shape)
        if block is None or block.covers == math.prod(chunk_spec.shape):
            return await self._decode_whole(byte_getter, selection, chunk_spec)
        itemsize = chunk_spec.dtype.to_native_dtype().itemsize
        first = block.first
        byte_range = RangeByteRequest(first * itemsize, (first + block.covers) * itemsize)
        data = await byte_getter.get(chunk_spec.prototype, byte_range)
        if data is None:
            return None
        elements = await self._decode_single(data, replace(chunk_spec, shape=(block.covers,)))
        picked = block.pick(np.asarray(elements.as_ndarray_like()))
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(picked)

    async def _decode_whole(
        self, byte_getter: ByteGetter, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        data = await byte_getter.get(chunk_spec.prototype)
        if data is None:
            return None
        return (await self._decode_single(data, chunk_spec))[selection]


@dataclass(frozen=True, slots=True)
class Block:
    """A basic selection of a C-ordered chunk, as a run of elements and how to walk it.

    Attributes
    ----------
    first : int
        Number of the first selected element, counted through the chunk.
    covers : int
        Elements from the first to the last selected one, both included.
    shape : tuple of int
        Shape of the selection; axes that an integer selects are not in it.
    strides : tuple of int
        Elements from one selected element to the next along each of these axes.
    """

    first: int
    covers: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def from_selection(cls, selection: Any, shape: Sequence[int]) -> Block | None:
        """Describe a selection; None when it is empty or not made of integers and forward slices."""
        parts = selection if isinstance(selection, tuple) else (selection,)
        if len(parts) != len(shape):
            return None
        first, last, stride = 0, 0, math.prod(shape)
        kept: list[tuple[int, int]] = []
        for part, extent in zip(parts, shape, strict=True):
            stride //= extent
            numbers = _numbers(part, extent)
            if not numbers:
                return None
            first += numbers[0] * stride
            last += numbers[-1] * stride
            if isinstance(part, slice):
                kept.append((len(numbers), numbers.step * stride))
        return cls(first, last - first + 1, tuple(n for n, _ in kept), tuple(step for _, step in kept))

    def pick(self, elements: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The selected elements, out of the `covers` elements from `first` on (a view of them)."""
        strides = tuple(step * elements.itemsize for step in self.strides)
        return np.lib.stride_tricks.as_strided(elements, self.shape, strides, writeable=False)


def _numbers(part: Any, extent: int) -> range | None:
    """Numbers that an integer or a forward slice selects; None for anything else."""
    if isinstance(part, slice):
        numbers = range(*part.indices(extent))
        return numbers if numbers.step > 0 else None
    if isinstance(part, int | np.integer) and not isinstance(part, bool):
        number = operator.index(part)
        return range(number, number + 1) if 0 <= number < extent else None
    return None


def register_named(codecs: Iterable[Any]) -> None:
    """Register codecs that are installed but not announced to zarr.

    Those of imagecodecs are announced by the package imagecodecs-zarr alone. What cannot be had is left
    to zarr, whose error names the package.

    Parameters
    ----------
    codecs : iterable
        Entries of ``codecs`` in a ``zarr.json``.
    """
    for codec in codecs:
        name = codec.get("name") if isinstance(codec, Mapping) else codec
        if not isinstance(name, str) or not (name in _OWN or name.startswith(_IMAGECODECS)):
            continue
        try:
            get_codec_class(name)
        except UnknownCodecError:
            with contextlib.suppress(ImportError):
                if name in _OWN:
                    importlib.import_module(_OWN[name])
                else:
                    suffix = name.removeprefix(_IMAGECODECS)
                    importlib.import_module("imagecodecs.zarr").register_codecs([suffix], verbose=False)


register_codec(PARTIAL_BYTES, PartialBytesCodec)
