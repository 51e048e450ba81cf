"""Channels whose samples lie in pieces that the file lists: TDT and NeuroExplorer.

TDT (tank, OpenDeveloper reference): an index (TSQ) says where each block of each channel begins in a file of
all channels (TEV) or of one (SEV). NeuroExplorer (NEX 1 file structure): a continuous variable is in one
piece.
"""

from __future__ import annotations

import os

import numpy as np

from ....virtual import VirtualArray, stack
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream

_NEX_OFFSETS = 2**32
"""Where the offsets of a NEX file end, which have 32 bits."""


def tdt(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The channels of a store."""
    reader = recording.reader
    with asking_neo():
        samples = int(reader._sig_sample_per_chunk[stream.index])
        dtype = np.dtype(reader._sig_dtype_by_group[stream.index])
        numbers = np.flatnonzero(reader.header["signal_channels"]["stream_id"] == stream.id).tolist()
        found = [
            (
                reader._sigs_index[segment.number][number]["offset"].tolist(),
                reader._sigs_data_buf[segment.number][number],
            )
            for number in numbers
        ]
    nbytes = samples * dtype.itemsize
    channels = []
    for offsets, mapped in found:
        url = recording.files.place(
            os.fspath(mapped.filename), max(offsets, default=0) + nbytes * bool(offsets)
        )
        places = [(url, offset, nbytes) for offset in offsets]
        shape = [len(places) * samples]
        channels.append(VirtualArray.from_chunks(places, shape=shape, dtype=dtype, chunk_shape=[samples]))
    return stack(channels, axis=1)


def neuroexplorer(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """A continuous variable."""
    reader = recording.reader
    with asking_neo():
        about = reader._entity_headers[int(reader.header["signal_channels"]["id"][stream.index])]
        fragments, samples = int(about["n"]), int(about["NPointsWave"])
        offset = int(about["offset"]) + 8 * fragments
        size = os.path.getsize(reader.filename)  # noqa: PTH202
    if size > _NEX_OFFSETS:
        raise CannotRepresentError("the file is larger than 4 GiB, and its offsets have 32 bits")
    url = recording.files.place(reader.filename, offset + 2 * samples if samples else 0)
    return VirtualArray.contiguous(url, shape=[samples, 1], dtype="<i2", offset=offset)
