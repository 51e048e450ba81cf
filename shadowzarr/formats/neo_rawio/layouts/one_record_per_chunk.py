"""Channels in files of their own, in records of a header and a fixed number of samples.

Neuralynx (NCS: 20 bytes, 512 samples) and Open Ephys in its legacy format (12 bytes, 1024 big-endian samples,
10 bytes). NEO maps the records of each channel in each segment; each becomes a chunk.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ....virtual import VirtualArray, stack
from ....virtual.memmap import memmap_layout
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream

_CONTINUOUS_HEADER = 1024
_CONTINUOUS = np.dtype(
    [
        ("timestamp", "<i8"),
        ("samples_in_record", "<u2"),
        ("recording", "<u2"),
        ("samples", ">i2", 1024),
        ("marker", "u1", 10),
    ]
)
"""A record of Open Ephys' legacy format, version 0.4."""


def neuralynx(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The channels of a stream of Neuralynx files."""
    reader = recording.reader
    size = recording.size(segment, stream)
    channels = []
    for uid in zip(stream.channel_names, stream.channel_ids, strict=True):
        with asking_neo():
            records, path = reader._sigs_memmaps[segment.number][uid], reader.ncs_filenames[uid]
        channels.append(_channel(recording, records["samples"], path, size))
    return stack(channels, axis=1)


def open_ephys(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The channels of a stream of ``.continuous`` files."""
    reader = recording.reader
    size = recording.size(segment, stream)
    with asking_neo():
        if any(reader._sig_has_gap[segment.number].values()):
            raise CannotRepresentError(
                "the recording has gaps, which NEO fills with values that are in no file"
            )
        files = reader._info["continuous"][sorted(reader._info["continuous"])[segment.number]]
        header = reader.header["signal_channels"]
        numbers = np.flatnonzero(header["stream_id"] == stream.id).tolist()
        first = int(reader._sig_timestamp0[segment.number])
        if len(files) != len(header):
            raise CannotRepresentError(
                f"the segment has {len(files)} channels and the first one {len(header)}; NEO takes them by "
                "their order"
            )
    return stack([_continuous(recording, files[number], first, size) for number in numbers], axis=1)


def _continuous(recording: Recording, path: str | os.PathLike[str], first: int, size: int) -> VirtualArray:
    """One channel from the record on whose time stamp is not before the common first one."""
    with asking_neo():
        count = (os.path.getsize(path) - _CONTINUOUS_HEADER) // _CONTINUOUS.itemsize  # noqa: PTH202
        records = np.memmap(path, _CONTINUOUS, "r", _CONTINUOUS_HEADER, (count,))
        begin = int(np.searchsorted(records["timestamp"], first))
    return _channel(recording, records["samples"][begin:], path, size)


def _channel(recording: Recording, samples: Any, path: str | os.PathLike[str], size: int) -> VirtualArray:
    """One channel of a segment.

    Parameters
    ----------
    samples : numpy.ndarray
        A view of a memory map, of shape (records, samples of a record).
    size : int
        Samples that NEO shows.
    """
    count, length = samples.shape
    if size > count * length:
        raise CannotRepresentError(
            f"{path} has {count * length} samples where NEO says that there are {size}"
        )
    layout, dtype = memmap_layout(samples, None, None)
    record = samples.strides[0]
    wanted = -(-size // length)
    end = layout.start + (wanted - 1) * record + length * dtype.itemsize if wanted else 0
    return VirtualArray.blocks(
        recording.files.place(path, end),
        shape=[size],
        chunk_shape=[length],
        dtype=dtype,
        record_size=record,
        offset=layout.start,
    )
