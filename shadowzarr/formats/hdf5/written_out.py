"""Fill values that zarr does not keep: the chunks that would show them are held in the document.

``zarr.json`` has their bits, which other readers may keep; zarr-python shows another NaN (``fill_values``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...refs.zarr_metadata import chunk_grid_shape
from .array_plan import ArrayPlan, Coordinates
from .chunk_codecs import encode
from .h5_filters_to_codecs import CodecChain
from .inline_budget import InlineBudget
from .reasons import CannotRepresentError

MOST_HELD = 10_000
"""Chunks that are held because of their fill value."""


def hold_missing(plan: ArrayPlan, budget: InlineBudget) -> None:
    """Hold the chunks that were never written, when zarr would show another fill value.

    Parameters
    ----------
    plan : ArrayPlan
        Changed in place.
    budget : InlineBudget
        Room for inline values.

    Raises
    ------
    CannotRepresentError
        When they are too many, or cannot be encoded.
    """
    if plan.lost_fill is None or plan.slabs is not None or 0 in plan.shape:
        return
    count = math.prod(chunk_grid_shape(plan.shape, plan.chunk_shape)) - plan.count
    if count <= 0:
        return
    elements = math.prod(plan.chunk_shape)
    budget.check(min(count, MOST_HELD) * elements * len(plan.lost_fill))
    data = None
    if count <= MOST_HELD:
        data = encode(CodecChain(tuple(plan.codecs[1:])), plan.lost_fill * elements)
    if data is None:
        raise CannotRepresentError(
            f"its fill value, {plan.fill_value}, is a NaN that zarr does not keep, "
            f"and {count:,} chunks that were never written show it"
        )
    budget.charge([data] * count)
    plan.inline.update(dict.fromkeys(_missing(plan), data))
    plan.converted.append(f"chunks that were never written, held since zarr does not keep their NaN: {count}")


def _missing(plan: ArrayPlan) -> Iterator[Coordinates]:
    there = {tuple(row) for table in plan.tables() for row in table.coordinates.tolist()} | set(plan.inline)
    grid = chunk_grid_shape(plan.shape, plan.chunk_shape)
    return (place for place in np.ndindex(*grid) if place not in there)
