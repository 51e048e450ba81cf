"""Values that no codec decodes in place: read by tifffile, held in the document."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ...refs.data_types import bytes_codec, data_type_of
from ..cannot_represent import CannotRepresentError
from ..inline_budget import InlineBudget
from .chunks import Held
from .keyframe import check_level, page_layout
from .page_layout import grid_of, place_page
from .reasons import reading
from .series import LevelPlan


def copy_level(level: Any, budget: InlineBudget, reason: str) -> LevelPlan:
    """Hold the values of a level, one chunk for each page.

    Parameters
    ----------
    level : TiffPageSeries
        The level.
    budget : InlineBudget
        What the document may hold.
    reason : str
        Why they are not referenced.

    Raises
    ------
    CannotRepresentError
        When tifffile cannot read them either, or there is no room; the reason is in the message.
    """
    try:
        return _copy(level, budget, reason)
    except CannotRepresentError as error:
        raise CannotRepresentError(f"{reason}; {error}") from error


def _copy(level: Any, budget: InlineBudget, reason: str) -> LevelPlan:
    check_level(level)
    shape, dtype = tuple(map(int, level.shape)), np.dtype(level.dtype).newbyteorder("<")
    budget.check(math.prod(shape) * dtype.itemsize)
    placement = place_page(shape, page_layout(level.keyframe).whole())
    with reading():
        values = level.asarray()
    if values.shape != shape or values.dtype != np.dtype(level.dtype):
        raise CannotRepresentError(
            f"tifffile gives {values.dtype} of shape {values.shape}, and says {dtype} {shape}"
        )
    chunk_shape = shape if placement is None else placement.chunk_shape
    held = _chunks(values.astype(dtype, copy=False), chunk_shape)
    budget.charge(list(held.values()))
    return LevelPlan(
        shape,
        chunk_shape,
        data_type_of(dtype),
        None,
        [bytes_codec(dtype)],
        Held(held),
        (f"values copied: {reason}",),
    )


def _chunks(values: np.ndarray[Any, Any], chunk_shape: tuple[int, ...]) -> dict[tuple[int, ...], bytes]:
    """Chunks that are not all 0, which their array shows anyway; chunk shapes divide the values here."""
    grid = grid_of(values.shape, chunk_shape)
    chunks: dict[tuple[int, ...], bytes] = {}
    for place in itertools.product(*map(range, grid)):
        part = values[
            tuple(slice(n * edge, (n + 1) * edge) for n, edge in zip(place, chunk_shape, strict=True))
        ]
        data = part.tobytes()
        if data.count(0) != len(data):
            chunks[place] = data
    return chunks
