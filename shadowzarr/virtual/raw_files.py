"""Values that lie in a file as they are, and how: in one piece, in records, in blocks, or chunk by chunk.

Each function checks what it is told and gives the layout; no file is looked at.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..errors import UsageError
from ..refs.data_types import DType, byte_orders, bytes_codec, data_type_of
from ..refs.node_checks import LARGEST
from ..refs.zarr_metadata import chunk_grid_shape
from .axes import Steps
from .chunk_bytes import ChunkForm
from .chunked import Chunked, EvenChunks, full_picks, table_of
from .indexing import normalized_axis
from .strided import Strided

Place = str | os.PathLike[str] | Sequence[Any]
"""A whole file, or ``(file, offset, length)``."""


def plain_dtype(dtype: Any) -> DType:
    """A data type whose values lie in a file as numpy holds them, and which Zarr has.

    Raises
    ------
    UsageError
        When it is not one; the message says which part of it is in the way.
    """
    try:
        found: DType = np.dtype(dtype)
    except TypeError as error:
        raise UsageError(f"dtype {str(dtype)[:80]!r} is no data type: {error}") from None
    if found.subdtype is not None:
        raise UsageError(f"dtype {found} is an array of its own; give its base and the array more axes")
    if len(byte_orders(found)) > 1:
        raise UsageError(f"dtype {found} has parts of both byte orders; a Zarr array has one")
    _check_fields(found)
    try:
        data_type_of(found)
    except ValueError as error:
        raise UsageError(f"dtype {found}: {error}") from None
    return found


def _check_fields(dtype: DType) -> None:
    if dtype.names is None or dtype.fields is None:
        return
    parts = [dtype.fields[name][:2] for name in dtype.names]
    for name, (part, _) in zip(dtype.names, parts, strict=True):
        if part.subdtype is not None:
            raise UsageError(
                f"dtype {dtype}: field {name!r} is an array, which a Zarr struct cannot hold; take the field "
                "alone"
            )
        _check_fields(part)
    ends = list(accumulate((part.itemsize for part, _ in parts), initial=0))
    if [*(offset for _, offset in parts), dtype.itemsize] != ends:
        raise UsageError(
            f"dtype {dtype} has bytes between its fields, which a Zarr struct cannot have; take single fields"
        )


def location(path: str | os.PathLike[str]) -> str:
    """A file as references name it: a URL as it is, a local path absolute."""
    try:
        text = os.fspath(path)
    except TypeError:
        raise UsageError(f"{str(path)[:80]!r} is no file; expected a path or URL") from None
    if not isinstance(text, str) or not text:
        raise UsageError(f"{text!r} is no file; expected a path or URL")
    return text if "://" in text else os.path.abspath(text)  # noqa: PTH100 - resolve() would follow links


def contiguous(
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int],
    dtype: DType,
    offset: int = 0,
    chunk_shape: Sequence[int] | None = None,
) -> Strided:
    """The layout of an array in one piece, row after row."""
    extents = whole_numbers(shape, "shape")
    strides = [math.prod(extents[axis + 1 :]) * dtype.itemsize for axis in range(len(extents))]
    return strided(path, offset, extents, strides, dtype, chunk_shape)


def records(
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int],
    dtype: DType,
    record_size: int,
    skip: int = 0,
    offset: int = 0,
    chunk_shape: Sequence[int] | None = None,
) -> Strided:
    """The layout of an array each row of which lies in one record, after some bytes."""
    extents = whole_numbers(shape, "shape")
    if not extents:
        raise UsageError("shape () has no rows; records hold one each")
    record, skipped = whole_number(record_size, "record_size", least=1), whole_number(skip, "skip")
    row = math.prod(extents[1:]) * dtype.itemsize
    if skipped + row > record:
        raise UsageError(
            f"record_size {record}: a row has {row} bytes after {skipped} that are skipped, which is more"
        )
    strides = [math.prod(extents[axis + 1 :]) * dtype.itemsize for axis in range(len(extents))]
    start = whole_number(offset, "offset") + skipped
    return strided(path, start, extents, [record, *strides[1:]], dtype, chunk_shape)


def strided(
    path: str | os.PathLike[str],
    start: int,
    extents: Sequence[int],
    strides: Sequence[int],
    dtype: DType,
    chunk_shape: Sequence[int] | None,
) -> Strided:
    """The layout of elements at even distances along each axis."""
    start = whole_number(start, "offset")
    axes = tuple(Steps(extent, step) for extent, step in zip(extents, strides, strict=True))
    edges = None if chunk_shape is None else _edges(chunk_shape, extents)
    if 0 not in extents:
        low, high = sum(axis.bounds[0] for axis in axes), sum(axis.bounds[1] for axis in axes)
        if start + low < 0 or start + high + dtype.itemsize > LARGEST:
            raise UsageError(f"offset {start}: bytes {start + low} to {start + high} are in no file")
    return Strided(location(path), start, axes, dtype.itemsize, (bytes_codec(dtype),), edges)


def blocks(
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int],
    chunk_shape: Sequence[int],
    dtype: DType,
    record_size: int,
    skip: int = 0,
    offset: int = 0,
    axis: int = 0,
) -> Chunked:
    """The layout of an array each chunk of which lies in one record, after some bytes."""
    extents = whole_numbers(shape, "shape")
    edges = _edges(chunk_shape, extents)
    along = normalized_axis(axis, len(extents))
    for number, (edge, extent) in enumerate(zip(edges, extents, strict=True)):
        if number != along and edge != extent:
            raise UsageError(
                f"chunk_shape {edges}: blocks follow one another along axis {along}, so along axis {number} "
                "a chunk "
                f"has all {extent} elements"
            )
    record, skipped = whole_number(record_size, "record_size", least=1), whole_number(skip, "skip")
    nbytes = math.prod(edges) * dtype.itemsize
    if skipped + nbytes > record:
        raise UsageError(
            f"record_size {record}: a chunk has {nbytes} bytes after {skipped} that are skipped, which is "
            "more"
        )
    grid = chunk_grid_shape(extents, edges)
    axes = tuple(Steps(count, record if number == along else 0) for number, count in enumerate(grid))
    start = whole_number(offset, "offset") + skipped
    return _plain(extents, edges, EvenChunks(location(path), start, nbytes, axes), dtype)


def from_chunks(
    chunks: Mapping[Sequence[int], Place] | Sequence[Place],
    *,
    shape: Sequence[int],
    dtype: DType,
    chunk_shape: Sequence[int],
) -> Chunked:
    """The layout of an array whose chunks are given one by one."""
    extents = whole_numbers(shape, "shape")
    edges = _edges(chunk_shape, extents)
    grid = chunk_grid_shape(extents, edges)
    if not isinstance(chunks, Mapping):
        chunks = list(chunks)
        if len(chunks) != math.prod(grid):
            raise UsageError(
                f"{len(chunks)} chunks; the chunk grid {grid} of shape {extents} in chunks of {edges} has "
                f"{math.prod(grid)}. A mapping by chunk coordinates may leave some out"
            )
        chunks = dict(zip(np.ndindex(*grid), chunks, strict=True))
    largest = math.prod(edges) * dtype.itemsize
    places: dict[tuple[int, ...], tuple[str, int, int]] = {}
    for given, place in chunks.items():
        coordinates = whole_numbers((given,) if isinstance(given, int) else given, "chunk coordinates")
        if len(coordinates) != len(grid) or any(c >= n for c, n in zip(coordinates, grid, strict=True)):
            raise UsageError(f"chunk {coordinates} lies outside of the chunk grid {grid}")
        places[coordinates] = _place(place, coordinates, largest)
    return _plain(extents, edges, table_of(places, len(grid)), dtype)


def _place(place: Place, coordinates: tuple[int, ...], largest: int) -> tuple[str, int, int]:
    if isinstance(place, str | os.PathLike):
        return location(place), 0, -1
    if not isinstance(place, Sequence) or len(place) not in (1, 3):
        raise UsageError(
            f"chunk {coordinates} is at {str(place)[:80]!r}; expected a file, or (file, offset, length)"
        )
    if len(place) == 1:
        return location(place[0]), 0, -1
    offset = whole_number(place[1], f"the offset of chunk {coordinates}")
    length = whole_number(place[2], f"the length of chunk {coordinates}")
    if length > largest:
        raise UsageError(
            f"the length of chunk {coordinates} is {length}; a whole chunk has {largest} bytes, and one at "
            "the array's "
            "end may have fewer"
        )
    return location(place[0]), offset, length


def _plain(extents: tuple[int, ...], edges: tuple[int, ...], source: Any, dtype: DType) -> Chunked:
    grid = chunk_grid_shape(extents, edges)
    order = tuple(axis for axis, edge in enumerate(edges) if edge > 1)
    form = ChunkForm(order, (bytes_codec(dtype),))
    return Chunked(extents, edges, source, full_picks(grid), tuple(range(len(grid))), form, dtype.itemsize)


def _edges(chunk_shape: Sequence[int], extents: Sequence[int]) -> tuple[int, ...]:
    edges = whole_numbers(chunk_shape, "chunk_shape", least=1)
    if len(edges) != len(extents):
        raise UsageError(
            f"chunk_shape {edges} has {len(edges)} edges for the {len(extents)} axes of {tuple(extents)}"
        )
    return edges


def whole_numbers(values: Any, what: str, *, least: int = 0) -> tuple[int, ...]:
    """Whole numbers, as Python's.

    Raises
    ------
    UsageError
        For anything else, and for numbers that are too small or too large.
    """
    try:
        return tuple(whole_number(value, what, least=least) for value in values)
    except TypeError:
        raise UsageError(f"{what} is {str(values)[:80]!r}; expected whole numbers") from None


def whole_number(value: Any, what: str, *, least: int = 0) -> int:
    """A whole number, as Python's."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{what} has {str(value)[:80]!r}; expected a whole number") from None
    if not least <= number <= LARGEST:
        raise UsageError(f"{what} has {number}; expected a number from {least} to 2**63 - 1")
    return number
