"""Spike2 (SON): each channel's samples in blocks behind headers of 20 bytes, which name the next one.

SON library (CED). NEO follows the chains and cuts them into segments (``_by_seg_data_blocks``: for each block
where its samples begin, and how many they are).
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ....virtual import VirtualArray, stack
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream

_BLOCK_HEADER = 20
_POSITIONS = 2**31
"""Where the positions end that NEO keeps of blocks, which have 32 bits and a sign."""

_LEAST_BYTES = 128
"""Of a chunk, where blocks that differ in length are cut into what they have in common."""

_Blocks = list[tuple[int, int]]
"""Where the samples of each begin in the file, and how many they are."""


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The channels that have a sampling rate, a data type and a scale in common."""
    reader = recording.reader
    size = recording.size(segment, stream)
    with asking_neo():
        path = reader.filename
        is_too_large = os.path.getsize(path) > _POSITIONS  # noqa: PTH202 - a location is a string
        kinds = {int(reader._channel_infos[int(each)]["kind"]) for each in stream.channel_ids}
        found = [reader._by_seg_data_blocks[int(each)][segment.number] for each in stream.channel_ids]
    if is_too_large:
        raise CannotRepresentError("the file is larger than 2 GiB, and NEO keeps its positions in 31 bits")
    channels = [_cut(each, size) for each in found]
    dtype = np.dtype("<f4" if kinds == {9} else "<i2")
    edge = _edge(channels, dtype.itemsize)
    ends = [offset + count * dtype.itemsize for blocks in channels for offset, count in blocks]
    url = recording.files.place(path, max(ends, default=0))
    return stack([_channel(url, blocks, size, edge, dtype) for blocks in channels], axis=1)


def _cut(found: Any, size: int) -> _Blocks:
    """The blocks of one channel, as far as the stream is shown.

    Raises
    ------
    CannotRepresentError
        When they hold less.
    """
    blocks, left = [], size
    for offset, count in zip(found["pos"].tolist(), found["size"].tolist(), strict=True):
        if offset < _BLOCK_HEADER or count < 0:
            raise CannotRepresentError(f"a block of {count} samples at byte {offset} is in no file")
        taken = min(count, left)
        if taken:
            blocks.append((offset, taken))
        left -= taken
    if left:
        raise CannotRepresentError(
            f"a channel has {size - left} samples where another of its stream has {size}; NEO fills the rest "
            "with zeros that are in no file"
        )
    return blocks


def _edge(channels: list[_Blocks], itemsize: int) -> int:
    """Samples of a chunk: all blocks but the last of a channel are cut into such.

    Raises
    ------
    CannotRepresentError
        When blocks have too little in common.
    """
    counts = sorted({count for blocks in channels for _, count in blocks[:-1]})
    last = max((blocks[-1][1] for blocks in channels if blocks), default=1)
    edge = math.gcd(*counts) if counts else last
    if counts and edge < min(counts) and edge * itemsize < _LEAST_BYTES:
        some = ", ".join(map(str, counts[:5]))
        raise CannotRepresentError(
            f"its blocks have {some} samples, and chunks of the {edge} that they have in common would be of "
            f"{edge * itemsize} bytes"
        )
    return edge


def _channel(url: str, blocks: _Blocks, size: int, edge: int, dtype: Any) -> VirtualArray:
    item = dtype.itemsize
    places = [
        (url, offset + start * item, min(edge, count - start) * item)
        for offset, count in blocks
        for start in range(0, count, edge)
    ]
    return VirtualArray.from_chunks(places, shape=[size], dtype=dtype, chunk_shape=[edge])
