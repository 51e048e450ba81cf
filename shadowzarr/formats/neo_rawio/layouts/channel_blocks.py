"""Records in which each channel's samples lie together, one channel after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....virtual import VirtualArray, concatenate


def channel_blocks(
    url: str, *, starts: Sequence[int], samples: int, records: int, record_size: int, dtype: Any
) -> VirtualArray:
    """Channels of which every record holds a number of samples, time by channel.

    Where the channels lie right behind each other, a record's part of all of them is one chunk; otherwise
    each channel has its own.

    Parameters
    ----------
    url : str
        The file.
    starts : sequence of int
        Offset of each channel's samples in the first record, from the start of the file.
    samples : int
        Of each channel in a record.
    records, record_size : int
        How many there are, and bytes of each.
    dtype : numpy.dtype
        Of the samples.
    """
    step = samples * dtype.itemsize
    is_one = list(starts) == [starts[0] + number * step for number in range(len(starts))]
    parts = [
        VirtualArray.blocks(
            url,
            shape=[len(group), records * samples],
            chunk_shape=[len(group), samples],
            dtype=dtype,
            record_size=record_size,
            offset=group[0],
            axis=1,
        )
        for group in ([starts] if is_one else [[start] for start in starts])
    ]
    return concatenate(parts, axis=0).transpose(1, 0)
