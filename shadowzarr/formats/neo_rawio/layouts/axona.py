"""Axona: packets of three samples of 64 channels, which lie in another order than they are numbered.

DacqUSB file formats (Axona Ltd): a packet of a ``.bin`` file has 432 bytes, of which 32 come before the
samples and 16 after them. NEO knows where the channels are in a sample (``channel_memory_offset``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....virtual import VirtualArray
from ....virtual.chunked import Chunked, EvenChunks, full_picks
from ....virtual.pieces import Spaced
from ....virtual.raw_files import records
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream

_DTYPE = np.dtype("<i2")
_PACKET, _HEAD = 432, 32
_SAMPLES, _CHANNELS = 3, 64


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The channels of the tetrodes that were recorded."""
    reader = recording.reader
    with asking_neo():
        tetrodes = [int(each) for each in reader.get_active_tetrode()]
        columns = [int(each) for each in reader.channel_memory_offset[: stream.channels]]
        packets = int(reader.file_parameters["bin"]["num_total_packets"])
        path = reader.bin_file
    if tetrodes != list(range(1, len(tetrodes) + 1)):
        raise CannotRepresentError(
            f"the tetrodes {', '.join(map(str, tetrodes))} were recorded, and NEO shows as many channels "
            "from the first one on, under other names"
        )
    url = recording.files.place(path, packets * _PACKET)
    if not packets:
        return VirtualArray.contiguous(url, shape=[0, len(columns)], dtype=_DTYPE)
    return VirtualArray(_samples(url, packets, columns), dtype=_DTYPE)


def _samples(url: str, packets: int, columns: list[int]) -> Chunked:
    """Samples by channels: the packets and the samples in each as one axis, whole packets to a chunk."""
    shape = [packets, _SAMPLES, _CHANNELS]
    whole = records(url, shape=shape, dtype=_DTYPE, record_size=_PACKET, skip=_HEAD)
    taken = whole.pick(2, np.array(columns), 1)
    (piece,) = (each for each in taken.pieces() if isinstance(each, Spaced))
    height = taken.chunk_shape[0]
    return Chunked(
        shape=(packets * _SAMPLES, len(columns)),
        chunk_shape=(height * _SAMPLES, len(columns)),
        source=EvenChunks(url, piece.start, piece.nbytes, (piece.axes[0], piece.axes[2])),
        picks=full_picks((-(-packets // height), 1)),
        axes=(0, 1),
        form=replace(taken.form, order=(0, 1)),
        itemsize=_DTYPE.itemsize,
    )
