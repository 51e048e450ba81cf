"""What one page, the first of a level, says of how all pages of the level are stored.

tifffile calls it the keyframe. Here its attributes become a `PageLayout` and a `SegmentForm`, or a reason.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...refs.fill_values import json_fill
from ...tiff_segments.one_segment_file import SegmentForm
from ..cannot_represent import CannotRepresentError
from .page_layout import PageLayout

_T4_OPTIONS = 292
_BYTE_ORDERS = {"<": "little", ">": "big"}
_MOST_AXES = 32


def check_level(level: Any) -> None:
    """Refuse a level that has no values, or values that are no longer those of the file.

    Raises
    ------
    CannotRepresentError
        With the reason.
    """
    keyframe = level.keyframe
    if keyframe.dtype is None:
        raise CannotRepresentError(
            f"samples of {keyframe.bitspersample} bits and sample format {keyframe.sampleformat}, which have "
            "no data type"
        )
    shape = tuple(level.shape)
    if len(shape) > _MOST_AXES or min(shape, default=1) < 1:
        raise CannotRepresentError(f"its shape is {shape}")
    if keyframe.dtype.kind not in "biufc" or keyframe.dtype.itemsize > 16:
        raise CannotRepresentError(f"Zarr has no data type for {keyframe.dtype}")


def page_layout(keyframe: Any) -> PageLayout:
    """Axes of a page and extents of its segments.

    Raises
    ------
    CannotRepresentError
        When they make no sense.
    """
    axes, shape = str(keyframe.axes), tuple(map(int, keyframe.shape))
    is_tiled = bool(keyframe.is_tiled)
    edges = {
        "S": int(keyframe.samplesperpixel) if keyframe.planarconfig == 1 else 1,
        "Z": int(keyframe.tiledepth) if is_tiled else 1,
        "Y": int(keyframe.tilelength if is_tiled else keyframe.rowsperstrip),
        "X": int(keyframe.tilewidth if is_tiled else keyframe.imagewidth),
    }
    if not {"X", "Y"} <= set(axes) <= set(edges) or len(axes) != len(shape) or len(set(axes)) != len(axes):
        raise CannotRepresentError(f"its pages have axes {axes!r}")
    layout = PageLayout(axes, shape, tuple(edges[axis] for axis in axes), is_tiled)
    if min(layout.edges) < 1 or math.prod(shape) != math.prod(keyframe.shaped):
        raise CannotRepresentError(f"its pages of shape {shape} are cut into {layout.edges}")
    return layout


def segment_form(keyframe: Any, layout: PageLayout) -> SegmentForm:
    """How the segments of a page are stored.

    Parameters
    ----------
    keyframe : TiffPage
        The page.
    layout : PageLayout
        How segments tile it, or what is read of it at once.

    Raises
    ------
    CannotRepresentError
        When it is described in a way that no segment can be.
    """
    bits = keyframe.bitspersample
    is_contiguous = keyframe.planarconfig == 1
    try:
        return SegmentForm(
            byteorder=_BYTE_ORDERS[keyframe.parent.byteorder],
            width=layout.edge("X"),
            rows=layout.edge("Y"),
            depth=layout.edge("Z"),
            samples=int(keyframe.samplesperpixel) if is_contiguous else 1,
            bits_per_sample=tuple(map(int, bits)) if isinstance(bits, tuple) else (int(bits),),
            compression=int(keyframe.compression),
            photometric=int(keyframe.photometric),
            predictor=int(keyframe.predictor),
            fill_order=int(keyframe.fillorder),
            sample_format=int(keyframe.sampleformat),
            extra_samples=tuple(map(int, _listed(keyframe.extrasamples))) if is_contiguous else (),
            t4_options=int(keyframe.tags.valueof(_T4_OPTIONS, 0)),
            subsampling=tuple(map(int, keyframe.subsampling or ())),
            jpeg_tables=bytes(keyframe.jpegtables or b""),
            short_rows=layout.short_rows,
        )
    except (TypeError, ValueError) as error:
        raise CannotRepresentError(f"how its pages are stored is not understood: {error}") from error


def fill_value(keyframe: Any, *, is_zero: bool) -> Any:
    """What tifffile shows where nothing was written, in the form that ``zarr.json`` has it.

    Parameters
    ----------
    keyframe : TiffPage
        The page; GDAL's tag for missing data gives the value of segments that were never written.
    is_zero : bool
        Whether whole pages are missing, which tifffile shows as 0 whatever that tag says.
    """
    return json_fill(np.asarray(0 if is_zero else keyframe.nodata).astype(keyframe.dtype))


def _listed(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (int(value),)
