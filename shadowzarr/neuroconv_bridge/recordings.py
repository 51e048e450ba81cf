"""SpikeInterface's recordings → virtual arrays: NEO's readers, plain binary files, and parts of either.

What a recording reads is told by its segments (SpikeInterface 0.105), which are taken by their exact class:
one that computes its values is of another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats.neo_rawio.files import Files, UrlFor
from ..formats.neo_rawio.virtual_arrays import virtual_arrays_neo
from ..virtual import VirtualArray
from .reasons import NotVirtualizable


def recording_array(iterator: Any, url_for: UrlFor | None) -> VirtualArray:
    """The samples that an iterator over a segment of a recording gives, time by channel.

    Parameters
    ----------
    iterator : SpikeInterfaceRecordingDataChunkIterator
    url_for : callable or None

    Raises
    ------
    NotVirtualizable
        When they are in no file as they are.
    """
    recording = iterator.recording
    if iterator.return_in_uV and recording.has_scaleable_traces():
        raise NotVirtualizable("NeuroConv was asked for microvolts, which it computes")
    return _segment_array(recording.segments[iterator.segment_index], url_for)


def _segment_array(segment: Any, url_for: UrlFor | None) -> VirtualArray:
    from spikeinterface.core.binaryrecordingextractor import BinaryRecordingSegment
    from spikeinterface.core.channelslice import ChannelSliceRecordingSegment
    from spikeinterface.core.frameslicerecording import FrameSliceRecordingSegment
    from spikeinterface.core.segmentutils import ProxyAppendRecordingSegment
    from spikeinterface.extractors.neoextractors.neobaseextractor import NeoRecordingSegment

    kind = type(segment)
    if kind is ProxyAppendRecordingSegment:
        return _segment_array(segment.parent_segment, url_for)
    if kind is ChannelSliceRecordingSegment:
        columns = np.asarray(segment._parent_channel_indices)
        whole = _segment_array(segment._parent_recording_segment, url_for)
        return whole if columns.tolist() == list(range(whole.shape[1])) else whole[:, columns.tolist()]
    if kind is FrameSliceRecordingSegment:
        whole = _segment_array(segment._parent_recording_segment, url_for)
        return whole[segment.start_frame : segment.end_frame]
    if kind is NeoRecordingSegment:
        return _of_neo(segment, url_for)
    if kind is BinaryRecordingSegment:
        return _of_binary(segment, url_for)
    raise NotVirtualizable(f"SpikeInterface's {kind.__name__} does not say where its samples are")


def _of_neo(segment: Any, url_for: UrlFor | None) -> VirtualArray:
    if segment.inverted_gain:
        raise NotVirtualizable(
            "its input was inverted: NEO gives a negative gain, and SpikeInterface negates the samples that "
            "it reads, so that NeuroConv writes other values than the recording has"
        )
    reader = segment.neo_reader
    arrays = virtual_arrays_neo(
        reader, block=segment.block_index, segment=segment.segment_index, url_for=url_for
    )
    return arrays[str(reader.header["signal_streams"][segment.stream_index]["id"])]


def _of_binary(segment: Any, url_for: UrlFor | None) -> VirtualArray:
    if segment.time_axis != 0:
        raise NotVirtualizable(
            "the file holds one channel after the other, which SpikeInterface reads as a whole only"
        )
    samples, channels = int(segment.get_num_samples()), int(segment.num_channels)
    offset, row = int(segment.file_offset), channels * segment.dtype.itemsize
    files = Files(url_for)
    url = files.place(segment.file_path, offset + samples * row)
    array = VirtualArray.contiguous(url, shape=[samples, channels], dtype=segment.dtype, offset=offset)
    return array.with_sources(files.sources)
