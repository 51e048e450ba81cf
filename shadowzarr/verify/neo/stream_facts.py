"""What references must say of a stream, and whether they do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

_PER_CHANNEL = ("units", "gain", "offset")
"""What may be said once when all channels have the same."""


def facts_of(reader: Any, block: int, segment: int, index: int, columns: Sequence[int]) -> dict[str, Any]:
    """What NEO says of a stream: one entry of each list per channel."""
    stream = reader.header["signal_streams"][index]
    channels = reader.header["signal_channels"]
    own = channels[channels["stream_id"] == stream["id"]]
    return {
        "id": str(stream["id"]),
        "name": str(stream["name"]),
        "columns": list(columns),
        "sampling_rate": float(reader.get_signal_sampling_rate(index)),
        "t_start": float(reader.get_signal_t_start(block, segment, index)),
        "channel_ids": [str(each) for each in own["id"]],
        "channel_names": [str(each) for each in own["name"]],
        "units": [str(each) for each in own["units"]],
        "gain": [float(each) for each in own["gain"]],
        "offset": [float(each) for each in own["offset"]],
    }


def difference(wanted: list[dict[str, Any]], given: Any) -> tuple[str, str] | None:
    """The first difference between what is known of the streams of an array and its attribute ``neo``.

    Returns
    -------
    tuple of str, or None
        Both sides; None when there is no difference.
    """
    streams = given.get("streams") if isinstance(given, Mapping) else None
    if not isinstance(streams, list) or len(streams) != len(wanted):
        return f"{len(wanted)} streams", f"{len(streams) if isinstance(streams, list) else 'no'} streams"
    for facts, entry in zip(wanted, streams, strict=True):
        if not isinstance(entry, Mapping):
            return f"a stream {facts['id']!r}", repr(entry)[:80]
        for name, value in facts.items():
            found = _expanded(name, entry.get(name), facts["channel_names"])
            if not _is_same(value, found):
                return f"{name} of stream {facts['id']!r}: {value!r}", repr(found)
    return None


def _expanded(name: str, value: Any, names: list[str]) -> Any:
    """A value in full, where a short form of it is allowed."""
    channels = len(names)
    if name == "channel_ids" and isinstance(value, Mapping) and isinstance(value.get("prefix"), str):
        return [value["prefix"] + each for each in names]
    if name in _PER_CHANNEL and not isinstance(value, list):
        return [value] * channels
    if name == "columns" and isinstance(value, Mapping):
        start, stop = value.get("start"), value.get("stop")
        if isinstance(start, int) and isinstance(stop, int) and 0 <= stop - start <= channels:
            return list(range(start, stop))
    return value


def _is_same(one: Any, other: Any) -> bool:
    """Equal, where NaN is equal to NaN and a number never to a text or a truth value."""
    if isinstance(one, list):
        return (
            isinstance(other, list)
            and len(one) == len(other)
            and all(_is_same(a, b) for a, b in zip(one, other, strict=True))
        )
    if isinstance(one, float):
        is_number = isinstance(other, int | float) and not isinstance(other, bool)
        return is_number and (one == other or (math.isnan(one) and math.isnan(other)))
    return type(one) is type(other) and bool(one == other)
