"""Intan RHD and RHS: blocks after the header, a file for each signal, or a file for each channel.

Data file formats of RHD2000 and RHS2000 (Intan Technologies); NEO maps all three (``_raw_data``). A block
holds the 60 or 128 samples of one channel after those of another: it is a chunk of channels by samples.
"""

from __future__ import annotations

import os
from typing import Any

from ....virtual import VirtualArray, stack
from ....virtual.memmap import memmap_layout
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream
from .channel_blocks import channel_blocks

_DIGITAL = ("USB board digital input channel", "USB board digital output channel")


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The channels of one kind."""
    kind = recording.reader.file_format
    if stream.name in _DIGITAL and kind != "one-file-per-channel":
        raise CannotRepresentError("NEO computes its values: 16 digital channels share each word of the file")
    if stream.name == "Stim channel":
        raise CannotRepresentError(
            "NEO computes its values: a word of the file holds the current's size and sign, and flags"
        )
    if kind == "header-attached":
        return _in_blocks(recording, stream)
    with asking_neo():
        mapped = recording.reader._raw_data[stream.name]
    if kind == "one-file-per-signal":
        return _mapped(recording, mapped)
    size = recording.size(segment, stream)
    if any(len(channel) < size for channel in mapped):
        raise CannotRepresentError("the files of its channels differ in length")
    return stack([_mapped(recording, channel[:size]) for channel in mapped], axis=1)


def _mapped(recording: Recording, view: Any) -> VirtualArray:
    layout, _ = memmap_layout(view, None, None)
    path = os.fspath(view.filename)
    return VirtualArray.from_memmap(view, url=recording.files.place(path, layout.start + view.nbytes))


def _in_blocks(recording: Recording, stream: Stream) -> VirtualArray:
    with asking_neo():
        records = recording.reader._raw_data
        fields = [records[channel] for channel in stream.channel_ids]
    if not len(records):
        return VirtualArray.contiguous(recording.shown, shape=[0, len(fields)], dtype=fields[0].dtype)
    found = [memmap_layout(field, None, None)[0].start for field in fields]
    dtype, record = fields[0].dtype, fields[0].strides[0]
    length = fields[0].shape[1] if fields[0].ndim == 2 else 1
    end = max(found) + (len(records) - 1) * record + length * dtype.itemsize
    url = recording.files.place(recording.reader.filename, end)
    is_dense = found == list(range(found[0], found[0] + len(found) * dtype.itemsize, dtype.itemsize))
    if length == 1 and is_dense:
        shape = [len(records), len(fields)]
        return VirtualArray.records(url, shape=shape, dtype=dtype, record_size=record, offset=found[0])
    return channel_blocks(
        url, starts=found, samples=length, records=len(records), record_size=record, dtype=dtype
    )
