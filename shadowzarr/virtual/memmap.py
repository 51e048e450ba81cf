"""numpy.memmap → layout: which bytes of its file a memory map, or a view of one, shows."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UsageError
from ..refs.data_types import DType
from .raw_files import plain_dtype, strided
from .strided import Strided


def memmap_layout(
    view: Any, url: str | os.PathLike[str] | None, chunk_shape: Sequence[int] | None
) -> tuple[Strided, DType]:
    """Where the elements of a view lie in the file that is mapped.

    Parameters
    ----------
    view : numpy.memmap, or a view of one
        Any strides: slices, fields of a struct, other orders of axes.
    url : str or path, optional
        What references call the file.
    chunk_shape : sequence of int, optional
        As for `Strided`.

    Raises
    ------
    UsageError
        When it is no view of a file, or has a data type that is not plain.
    """
    if not isinstance(view, np.ndarray):
        raise UsageError(f"from_memmap takes a numpy.memmap or a view of one, found a {type(view).__name__}")
    mapped = _mapped(view)
    dtype = plain_dtype(view.dtype)
    name = mapped.filename if url is None else url
    if name is None:
        raise UsageError("the memory map is of a file without a name; give its url")
    start = _file_offset(view, mapped) if view.size else 0
    return strided(name, start, view.shape, view.strides, dtype, chunk_shape), dtype


def _mapped(view: np.ndarray[Any, Any]) -> np.memmap[Any, Any]:
    """The memory map that a view is of."""
    base: Any = view
    while base is not None:
        if isinstance(base, np.memmap) and getattr(base, "_mmap", None) is not None:
            return base
        base = getattr(base, "base", None)
    raise UsageError(
        "the array is no view of a memory map: its values were computed or copied; slices, fields and other "
        "orders "
        "of axes of a numpy.memmap are views"
    )


def _file_offset(view: np.ndarray[Any, Any], mapped: np.memmap[Any, Any]) -> int:
    """Offset of a view's first element in the file: the map begins at a whole page before its array."""
    opened: Any = mapped._mmap  # type: ignore[attr-defined]  # numpy keeps it there
    begin = np.frombuffer(opened, np.uint8).__array_interface__["data"][0]
    offset = int(mapped.offset)
    page = offset - offset % mmap.ALLOCATIONGRANULARITY
    at = view.__array_interface__["data"][0] - begin
    low = at + sum(min(0, (count - 1) * step) for count, step in zip(view.shape, view.strides, strict=True))
    high = at + sum(max(0, (count - 1) * step) for count, step in zip(view.shape, view.strides, strict=True))
    if low < 0 or high + view.itemsize > len(opened):
        raise UsageError("the array lies outside of the memory map that it is a view of")
    return int(page + at)
