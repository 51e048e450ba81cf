"""virtual_arrays_neo: one virtual array for each signal stream of a NEO reader."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..._optional import require_installed
from ...errors import UnsupportedError, UsageError
from ...virtual import VirtualArray
from ..cannot_represent import CannotRepresentError
from .files import Files, UrlFor
from .layouts import rule_for
from .recording import Recording, Segment, asking_neo, open_recording
from .streams import Stream


class StreamArrays(dict[str, VirtualArray]):
    """Virtual arrays by the ids of their streams.

    Attributes
    ----------
    left_out : dict of str to str
        Why the other streams are not there, by their ids.
    """

    def __init__(self, arrays: dict[str, VirtualArray], left_out: dict[str, str]) -> None:
        super().__init__(arrays)
        self.left_out = left_out

    def __missing__(self, key: str) -> VirtualArray:
        if key in self.left_out:
            raise UnsupportedError(f"stream {key!r} cannot be referenced: {self.left_out[key]}")
        raise KeyError(key)


def virtual_arrays_neo(
    reader: Any,
    *,
    block: int | None = None,
    segment: int | None = None,
    url_for: UrlFor | None = None,
) -> StreamArrays:
    """Make a virtual array for each signal stream of a recording, time by channel.

    Raw values are those of ``reader.get_analogsignal_chunk(block, segment, stream_index=…)``. The attributes
    of an array say of its stream: ``stream_id``, ``stream_name``, ``sampling_rate`` (Hz), ``t_start`` (s),
    and one entry per channel in ``channel_ids``, ``channel_names``, ``units``, ``gain`` and ``offset``: a
    raw value times the gain, plus the offset, is in the unit.

    Parameters
    ----------
    reader : neo.rawio.baserawio.BaseRawIO
        One of NEO's raw readers. Its header is parsed if it is not yet.
    block, segment : int, optional
        Which ones, counted from 0; all when they are left out.
    url_for : callable, optional
        Gives the URL under which a local file is hosted, of its path as the reader has it.

    Returns
    -------
    StreamArrays
        By stream ids when there is one segment, or when both block and segment are given; otherwise by
        ``block<b>/segment<s>/<stream id>``. What cannot be referenced is in ``left_out``.

    Raises
    ------
    UsageError
        When it is no reader, or has no such block or segment.
    DamagedSourceError
        When NEO cannot read the recording.
    UnsupportedError
        When there are no signals in it, or none can be referenced.
    MissingDependencyError
        When NEO is not installed.
    """
    require_installed("neo", extra="neo")
    recording = open_recording(reader, Files(url_for))
    arrays: dict[str, VirtualArray] = {}
    left_out: dict[str, str] = {}
    for each in recording.choose_segments(block, segment):
        prefix = "" if block is not None and segment is not None else each.prefix
        for stream in recording.streams:
            try:
                array = stream_array(recording, each, stream)
            except CannotRepresentError as error:
                left_out[prefix + stream.id] = str(error)
                continue
            arrays[prefix + stream.id] = array.with_attributes(
                stream.attributes(recording.t_start(each, stream))
            )
    refuse_nothing(recording, arrays, left_out)
    return StreamArrays(
        {name: array.with_sources(recording.files.sources) for name, array in arrays.items()}, left_out
    )


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The samples of a stream in a segment, as its reader's rule finds them.

    Raises
    ------
    CannotRepresentError
        When they cannot be referenced, or NEO shows other ones than the rule finds.
    """
    rule = rule_for(recording.reader)
    with refusing():
        array = rule(recording, segment, stream)
    check_stream(recording, segment, stream, array.shape, array.dtype, range(array.shape[1]))
    return array


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turn what a virtual array cannot be into a reason.

    Raises
    ------
    CannotRepresentError
        When one is refused.
    """
    try:
        yield
    except UnsupportedError:
        raise
    except UsageError as error:
        raise CannotRepresentError(str(error)) from error


def check_stream(
    recording: Recording,
    segment: Segment,
    stream: Stream,
    shape: tuple[int, ...],
    dtype: Any,
    columns: Iterable[int],
) -> None:
    """Compare an array with what NEO shows of a stream: its size, its channels and its data type.

    Raises
    ------
    CannotRepresentError
        When they differ, or NEO cannot read the first sample.
    """
    size, channels = recording.size(segment, stream), len(list(columns))
    if (shape[0], channels) != (size, stream.channels):
        raise CannotRepresentError(
            f"NEO shows {size} samples of {stream.channels} channels, and the file holds {shape[0]} of "
            f"{channels}"
        )
    if not size:
        return
    with asking_neo():
        first = recording.reader.get_analogsignal_chunk(segment.block, segment.number, 0, 1, stream.index)
    if first.shape != (1, channels) or first.dtype.newbyteorder("=") != np.dtype(dtype).newbyteorder("="):
        raise CannotRepresentError(
            f"NEO shows samples of {first.shape[1:]} {first.dtype}, and the file holds {channels} of {dtype}"
        )


def refuse_nothing(recording: Recording, made: Any, left_out: dict[str, str]) -> None:
    """Refuse a recording of which nothing can be referenced.

    Raises
    ------
    UnsupportedError
        With the first reason.
    """
    if not made:
        reason = next(iter(left_out.values()), "it has no segments")
        raise UnsupportedError(f"{recording.shown}: nothing in it can be referenced: {reason}")
