"""Blackrock NSx: a block of interleaved samples for each segment, or a packet for each sample.

File specifications 2.1 to 3.0; NEO finds the data blocks and cuts them into segments (``_nsx_data_header``).
In the variant with precision time stamps every sample is in a packet behind its own.
"""

from __future__ import annotations

import numpy as np

from ....virtual import VirtualArray
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The samples of one NSx file in one segment."""
    reader = recording.reader
    with asking_neo():
        number = int(stream.id)
        where = reader._nsx_data_header[number][segment.number]["memmap_kwargs"]
        channels = int(where.get("num_channels", reader._nsx_basic_header[number]["channel_count"]))
        samples, offset = int(where["num_samples"]), int(where["offset"])
        dtype = np.dtype(where["dtype"])
        packet, skip = where.get("packet_size"), int(where.get("item_offset", 0))
        path = f"{reader._filenames['nsx']}.ns{number}"
    row = channels * dtype.itemsize
    record = row if packet is None else int(packet)
    end = offset + skip + (samples - 1) * record + row if samples else 0
    url = recording.files.place(path, end)
    return VirtualArray.records(
        url, shape=[samples, channels], dtype=dtype, record_size=record, skip=skip, offset=offset
    )
