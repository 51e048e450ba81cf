"""SpikeGadgets: after an XML header a packet for every sample, in which each channel has two bytes.

NEO maps the packets (``_raw_memmap``) and says which bytes of one are whose (``_mask_channels_bytes``).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ....virtual import VirtualArray, stack
from ....virtual.memmap import memmap_layout
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream

_DTYPE = np.dtype("<i2")


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The channels of one device, or of the electrodes."""
    with asking_neo():
        packets = recording.reader._raw_memmap
        masks = [np.flatnonzero(mask) for mask in recording.reader._mask_channels_bytes[stream.id]]
        samples, record = packets.shape
    starts = _starts(masks)
    if not samples:
        return VirtualArray.contiguous(recording.shown, shape=[0, len(starts)], dtype=_DTYPE)
    layout, _ = memmap_layout(packets, None, None)
    url = recording.files.place(recording.reader.filename, layout.start + samples * record)
    first, last = starts[0], starts[-1]
    if all((start - first) % _DTYPE.itemsize == 0 for start in starts):
        width = (last - first) // _DTYPE.itemsize + 1
        columns = [(start - first) // _DTYPE.itemsize for start in starts]
        whole = VirtualArray.records(
            url, shape=[samples, width], dtype=_DTYPE, record_size=record, skip=first, offset=layout.start
        )
        return whole if len(columns) == width else whole[:, columns]
    return stack(
        [
            VirtualArray.records(
                url, shape=[samples], dtype=_DTYPE, record_size=record, skip=start, offset=layout.start
            )
            for start in starts
        ],
        axis=1,
    )


def _starts(masks: list[np.ndarray]) -> list[int]:
    """Where each channel's bytes begin in a packet.

    Raises
    ------
    CannotRepresentError
        When NEO's read of all channels gives them in another order than its header.
    """
    if any(len(mask) != _DTYPE.itemsize or mask[1] != mask[0] + 1 for mask in masks):
        raise CannotRepresentError("a channel has no two bytes of its own in a packet")
    starts = [int(mask[0]) for mask in masks]
    if any(later - earlier < _DTYPE.itemsize for earlier, later in pairwise(starts)):
        raise CannotRepresentError(
            "its channels lie in the packets in another order than the header names them; NEO then reads "
            "all of them together under wrong names"
        )
    return starts
