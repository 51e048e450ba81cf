"""Layouts: how an array of the new store is cut into chunks and compressed.

A layout is a function of an array's path and the array. It gives arguments for `zarr.create_array`, or None
to leave the array's chunks as they are. The named ones are for neurophysiology; ``docs/materialize.md`` gives
their reasons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import UsageError

CHUNK_BYTES = 4 * 2**20
"""Bytes of a chunk before compression: few enough to read one at a time, and enough to be worth a request."""

EPHYS_CHANNELS = 64
"""Channels of a chunk: neighbours on a probe are read together, a few of them without all the others."""

Layout = Callable[[str, Any], Mapping[str, Any] | None]
"""Path of an array and the `zarr.Array` → arguments of `zarr.create_array`, or None."""

ARGUMENTS = frozenset(
    {"chunks", "shards", "filters", "compressors", "serializer", "chunk_key_encoding", "dimension_names"}
)
"""What a layout may say; the rest of `zarr.create_array` would make another array of it."""


def layout_of(layout: str | Layout | None) -> Layout:
    """The function for a layout that a user names.

    Raises
    ------
    UsageError
        When there is none of that name.
    """
    if layout is None:
        return default_layout
    if callable(layout):
        return layout
    if layout not in LAYOUTS:
        raise UsageError(
            f"there is no layout {layout!r}; expected {', '.join(sorted(LAYOUTS))} or a function"
        )
    return LAYOUTS[layout]


def default_layout(path: str, array: Any) -> Mapping[str, Any] | None:
    """Arrays of numbers in chunks of about 4 MiB along the first axis; any other as it is stored."""
    if not is_numeric(array.dtype):
        return None
    return {"chunks": rows_of(array.shape, array.dtype.itemsize)}


def ephys_layout(path: str, array: Any) -> Mapping[str, Any] | None:
    """Time by channel: 64 channels for as long as makes about 4 MiB, a second of int16 at 30 kHz."""
    if not is_numeric(array.dtype) or array.ndim != 2:
        return default_layout(path, array)
    channels = _even_part(array.shape[1], EPHYS_CHANNELS)
    return {"chunks": rows_of((array.shape[0], channels), array.dtype.itemsize)}


def imaging_layout(path: str, array: Any) -> Mapping[str, Any] | None:
    """Whole frames, as many as make about 4 MiB; a larger one is a chunk of its own, up to 16 MiB."""
    if not is_numeric(array.dtype) or array.ndim < 3:
        return default_layout(path, array)
    frame, itemsize = array.shape[1:], array.dtype.itemsize
    limit = CHUNK_BYTES if math.prod(frame) * itemsize <= CHUNK_BYTES else 4 * CHUNK_BYTES
    return {"chunks": rows_of(array.shape, itemsize, limit=limit)}


LAYOUTS: Mapping[str, Layout] = {
    "default": default_layout,
    "ephys": ephys_layout,
    "imaging": imaging_layout,
}
"""The layouts that have names."""


def rows_of(shape: Sequence[int], itemsize: int, *, limit: int = CHUNK_BYTES) -> tuple[int, ...]:
    """Chunk shape of at most so many bytes: whole along the last axes, cut along the first that needs it.

    Parameters
    ----------
    shape : sequence of int
        Of the array.
    itemsize : int
        Bytes of an element.
    limit : int, optional
        Bytes of a chunk.
    """
    edges: list[int] = []
    room = max(1, limit // itemsize)
    for extent in reversed(shape):
        edge = max(1, min(extent, room))
        edges.append(edge)
        room //= edge
    return tuple(reversed(edges))


def is_numeric(dtype: Any) -> bool:
    """Whether a data type is one of numbers: whole, real or complex, or true and false."""
    return getattr(dtype, "kind", "O") in "biufc"


def checked(answer: Any, path: str) -> dict[str, Any] | None:
    """What a layout says of an array.

    Raises
    ------
    UsageError
        When it is not what a layout may say.
    """
    if answer is None:
        return None
    if not isinstance(answer, Mapping):
        raise UsageError(
            f"the layout gives {answer!r} for array {'/' + path!r}; expected a mapping of arguments of "
            "zarr.create_array, or None"
        )
    foreign = sorted(map(str, set(answer) - ARGUMENTS))
    if foreign:
        raise UsageError(
            f"the layout gives {', '.join(foreign)} for array {'/' + path!r}; it may say "
            f"{', '.join(sorted(ARGUMENTS))}"
        )
    return dict(answer)


def _even_part(extent: int, most: int) -> int:
    """Edge of at most `most` that cuts an extent into parts of nearly the same size."""
    if extent <= most:
        return max(1, extent)
    return math.ceil(extent / math.ceil(extent / most))
