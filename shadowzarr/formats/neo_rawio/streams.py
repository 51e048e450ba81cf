"""The streams of a recording as NEO names them, and what attributes say of them.

Gains and offsets are told and never applied: ``value * gain + offset`` is in ``units``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Stream:
    """One signal stream: channels that are sampled together.

    Attributes
    ----------
    index : int
        Its place in the reader's header.
    id, name, buffer_id : str
        As NEO has them.
    sampling_rate : float
        In Hz.
    channel_ids, channel_names, units : tuple of str
        One of each per channel.
    gains, offsets : tuple of float
        What turns raw values into ``units``, for each channel.
    """

    index: int
    id: str
    name: str
    buffer_id: str
    sampling_rate: float
    channel_ids: tuple[str, ...]
    channel_names: tuple[str, ...]
    units: tuple[str, ...]
    gains: tuple[float, ...]
    offsets: tuple[float, ...]

    @property
    def channels(self) -> int:
        """Number of channels."""
        return len(self.channel_ids)

    def attributes(self, t_start: float) -> dict[str, Any]:
        """Attributes of a virtual array of the stream: lists with one entry per channel.

        Parameters
        ----------
        t_start : float
            Time of the first sample, in seconds.
        """
        return {
            "stream_id": self.id,
            "stream_name": self.name,
            "sampling_rate": self.sampling_rate,
            "t_start": t_start,
            "channel_ids": list(self.channel_ids),
            "channel_names": list(self.channel_names),
            "units": list(self.units),
            "gain": list(self.gains),
            "offset": list(self.offsets),
        }

    def entry(self, t_start: float, columns: Sequence[int]) -> dict[str, Any]:
        """One entry of ``streams`` in the ``neo`` attribute of an array.

        What all channels have in common is said once, since a probe has hundreds: ``units``, ``gain`` and
        ``offset`` are lists, or one value for all, columns that follow each other are a range, and ids that
        are the names behind a prefix are that prefix.

        Parameters
        ----------
        t_start : float
            Time of the first sample, in seconds.
        columns : sequence of int
            Columns of the array that are the stream's channels, in their order.
        """
        return {
            "id": self.id,
            "name": self.name,
            "columns": _columns(columns),
            "sampling_rate": self.sampling_rate,
            "t_start": t_start,
            "channel_ids": _ids(self.channel_ids, self.channel_names),
            "channel_names": list(self.channel_names),
            "units": _common(self.units),
            "gain": _common(self.gains),
            "offset": _common(self.offsets),
        }


def read_streams(header: Any) -> list[Stream]:
    """The streams of a reader's header.

    Parameters
    ----------
    header : dict
        Of a reader whose header is parsed.
    """
    return [
        _stream(index, each, header["signal_channels"]) for index, each in enumerate(header["signal_streams"])
    ]


def _stream(index: int, stream: Any, channels: Any) -> Stream:
    own = channels[channels["stream_id"] == stream["id"]]
    return Stream(
        index=index,
        id=str(stream["id"]),
        name=str(stream["name"]),
        buffer_id=str(stream["buffer_id"]),
        sampling_rate=float(own["sampling_rate"][0]) if len(own) else 0.0,
        channel_ids=tuple(map(str, own["id"])),
        channel_names=tuple(map(str, own["name"])),
        units=tuple(map(str, own["units"])),
        gains=tuple(map(float, own["gain"])),
        offsets=tuple(map(float, own["offset"])),
    )


def _common(values: tuple[Any, ...]) -> Any:
    """One value where all are the same, NaN included; otherwise a list."""
    is_one = bool(values) and all(
        value == values[0] or (value != value and values[0] != values[0]) for value in values
    )
    return values[0] if is_one else list(values)


def _ids(ids: tuple[str, ...], names: tuple[str, ...]) -> Any:
    """The ids, or the prefix that makes them of the names."""
    prefix = ids[0].removesuffix(names[0]) if ids else ""
    is_prefix = bool(ids) and all(each == prefix + name for each, name in zip(ids, names, strict=True))
    return {"prefix": prefix} if is_prefix else list(ids)


def _columns(columns: Sequence[int]) -> Any:
    numbers = [int(column) for column in columns]
    if numbers and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return {"start": numbers[0], "stop": numbers[0] + len(numbers)}
    return numbers


def column_numbers(taken: Any, width: int) -> list[int]:
    """Columns of a buffer that NEO takes for a stream.

    Parameters
    ----------
    taken : None, slice or sequence of int
        As NEO keeps it; None for all.
    width : int
        Columns of the buffer.
    """
    numbers = np.arange(width)
    return [int(number) for number in (numbers if taken is None else numbers[taken])]
