"""Buffers that NEO's readers describe: bytes in one piece of a file, or an HDF5 dataset.

`neo.rawio.baserawio.BaseRawWithBufferApiIO` (NEO 0.14) gives for each buffer of a segment its file, data
type, shape and offset, and which columns each stream takes of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....errors import UsageError
from ....refs.slabs import CONTIGUOUS_CHUNK_BYTES, slab_height
from ....virtual import VirtualArray
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream, column_numbers
from .hdf5_datasets import dataset_array


def is_described(reader: Any) -> bool:
    """Whether a reader describes its buffers."""
    asked = getattr(reader, "has_buffer_description_api", None)
    return bool(asked is not None and asked())


def buffer_ids(recording: Recording) -> list[str]:
    """Ids of the buffers that have streams, in the order of the header."""
    return list(dict.fromkeys(stream.buffer_id for stream in recording.streams))


def buffer_array(recording: Recording, segment: Segment, buffer_id: str) -> VirtualArray:
    """A buffer as the file stores it, time by channel.

    Raises
    ------
    CannotRepresentError
        When its bytes cannot be referenced.
    """
    with asking_neo():
        about = recording.reader.get_analogsignal_buffer_description(segment.block, segment.number, buffer_id)
        kind, is_turned = about["type"], about.get("time_axis", 0) == 1
        shape = tuple(int(extent) for extent in about["shape"])
    if len(shape) != 2 or min(shape) < 0:
        raise CannotRepresentError(f"NEO says that it has the shape {shape}")
    if kind == "raw":
        return _raw(recording, about, shape, is_turned=is_turned)
    if kind == "hdf5":
        array = dataset_array(recording, about["file_path"], about["hdf5_path"])
        return array.transpose(1, 0) if is_turned else array
    raise CannotRepresentError(f"NEO describes it as {str(kind)[:40]!r}, which is not known here")


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The columns of a buffer that are a stream's channels."""
    array = buffer_array(recording, segment, stream.buffer_id)
    columns = stream_columns(recording, stream, array.shape[1])
    return array if columns == list(range(array.shape[1])) else array[:, columns]


def stream_columns(recording: Recording, stream: Stream, width: int) -> list[int]:
    """Columns of its buffer that are a stream's channels.

    Parameters
    ----------
    width : int
        Columns of the buffer.

    Raises
    ------
    CannotRepresentError
        When NEO takes another number of columns than it names channels.
    """
    with asking_neo():
        columns = column_numbers(recording.reader._stream_buffer_slice[stream.id], width)
    if len(columns) != stream.channels:
        raise CannotRepresentError(
            f"NEO reads {len(columns)} columns for the {stream.channels} channels it names"
        )
    return columns


def _raw(recording: Recording, about: Any, shape: tuple[int, ...], *, is_turned: bool) -> VirtualArray:
    if about.get("order", "C") != "C":
        raise CannotRepresentError(f"NEO says that it is stored in the order {about['order']!r}")
    try:
        dtype, offset = np.dtype(about["dtype"]), int(about["file_offset"])
    except (TypeError, ValueError) as error:
        raise CannotRepresentError(f"NEO describes it wrongly: {error}") from error
    end = offset + math.prod(shape) * dtype.itemsize
    url = recording.files.place(about["file_path"], end if 0 not in shape else 0)
    try:
        return VirtualArray.contiguous(
            url,
            shape=shape,
            dtype=dtype,
            offset=offset,
            chunk_shape=_runs(shape, dtype.itemsize) if is_turned else None,
        ).transpose(*((1, 0) if is_turned else (0, 1)))
    except UsageError as error:
        raise CannotRepresentError(str(error)) from error


def _runs(shape: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Chunks of one channel each, for an array that stores one channel after the other."""
    return 1, slab_height(shape[1], itemsize, CONTIGUOUS_CHUNK_BYTES) if shape[1] else 1
