"""Do codecs give what tifffile gives? Tried on some segments of a level, as a reader would decode them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from ...codecs import register_named
from ...refs.chunk_key import METADATA_NAME, chunk_key
from ...refs.data_types import data_type_of
from ...refs.fill_values import json_fill
from ...refs.zarr_metadata import array_metadata
from ..cannot_represent import CannotRepresentError
from .compressions import Codecs, is_plain
from .reasons import short_reason
from .segments import Segments

MOST_TRIED = 64 * 2**20
"""Bytes of a segment, stored or decoded, up to which it is decoded to see whether codecs are right."""

_EXPANSION = 4
_ROOM = 2**16


@dataclass(frozen=True, slots=True)
class Sample:
    """A segment, and what tifffile makes of it.

    Attributes
    ----------
    data : bytes
        As the file has it.
    values : numpy.ndarray
        Depth, rows, columns, samples; a short strip has fewer rows than others, and a tile at the edge
        of a page only what lies in it.
    """

    data: bytes
    values: npt.NDArray[Any]


def samples_of(
    segments: Segments, decode: Callable[[int, int, bytearray], npt.NDArray[Any]], read: Callable[..., bytes]
) -> Iterator[Sample]:
    """The first, last and largest segment that are written, each once.

    Parameters
    ----------
    segments : Segments
        Where they are.
    decode : callable
        Decodes a segment by tifffile: number of page and segment, and bytes.
    read : callable
        Reads an offset and a length of the file of a page: ``read(page, offset, length)``.

    Raises
    ------
    CannotRepresentError
        When tifffile cannot decode one.
    """
    places = np.argwhere(segments.written)
    if not len(places):
        return
    largest = np.argmax(segments.counts[tuple(places.T)])
    for page, segment in dict.fromkeys(tuple(map(int, places[n])) for n in (0, -1, largest)):
        offset, count = int(segments.offsets[page, segment]), int(segments.counts[page, segment])
        if count > MOST_TRIED:
            continue
        data = read(page, offset, count)
        try:
            yield Sample(data, decode(page, segment, bytearray(data)))  # which tifffile may undo in place
        except Exception as error:  # each decoder raises what its library does
            raise CannotRepresentError(
                f"tifffile cannot decode segment {segment} of page {page}: {short_reason(error)}"
            ) from error


def gives_same(codecs: Codecs, sample: Sample, shape: tuple[int, ...], chunk_shape: tuple[int, ...]) -> bool:
    """Whether a chain of codecs decodes a segment as tifffile does, bit for bit.

    Parameters
    ----------
    codecs : list of dict
        ``codecs`` of ``zarr.json``.
    sample : Sample
        The segment.
    shape : tuple of int
        Depth, rows, columns and samples of a whole segment.
    chunk_shape : tuple of int
        Of the array.
    """
    values = sample.values
    if len(sample.data) > _EXPANSION * values.nbytes + _ROOM:
        return False  # what is in it is more than belongs to it, and a codec may not know where to stop
    data = sample.data
    if is_plain(codecs):  # the store fills up the last strip of a page
        data = data.ljust(math.prod(chunk_shape) * values.dtype.itemsize, b"\0")
    try:
        decoded = decode_chunk(codecs, data, values.dtype, chunk_shape).reshape(shape)
    except Exception:  # noqa: BLE001 - a codec that fails is as wrong as one that gives other values
        return False
    inside = tuple(slice(0, extent) for extent in values.shape)
    return np.ascontiguousarray(decoded[inside]).tobytes() == np.ascontiguousarray(values).tobytes()


def decode_chunk(
    codecs: Codecs, data: bytes, dtype: np.dtype[Any], chunk_shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """One chunk as zarr reads it, with whatever codecs are installed."""
    register_named(codecs)
    metadata = array_metadata(
        shape=chunk_shape,
        data_type=data_type_of(dtype),
        chunk_shape=chunk_shape,
        codecs=codecs,
        fill_value=json_fill(np.zeros((), dtype)),
    )
    make = default_buffer_prototype().buffer.from_bytes
    key = chunk_key("", (0,) * len(chunk_shape))
    store = MemoryStore({METADATA_NAME: make(json.dumps(metadata).encode()), key: make(data)}, read_only=True)
    return np.asarray(zarr.open_array(store, mode="r", zarr_format=3)[...])
