"""External raw storage by references into the raw files (HDF5 File Format, "External Data Files").

The values of such a dataset lie one after the other in pieces of other files. They are read by HDF5 only to
copy what cannot be referred to (``foreign``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from h5py import h5f

from ...access.locations import is_remote
from ...access.range_reader import default_reader
from ...access.sources import Source, describe
from ...errors import SourceNotFoundError
from ...refs.byte_range import FileRange
from ...refs.slabs import cut_axis, slab_height
from .array_plan import ArrayPlan, Slabs
from .chunk_grid import joined, largest_divisor
from .dataset_context import DatasetContext
from .dtypes import DType, NotInPlaceError, stored_dtype
from .h5_chunk_utils import ChunkTable
from .in_place import INLINE_BELOW, InPlace
from .object_names import decode_name, printable
from .opened_object import OpenedDataset
from .reasons import CannotRepresentError, reading
from .virtual import FEW_CHUNKS, LEAST_CHUNK_BYTES


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of a dataset's bytes.

    Attributes
    ----------
    file : Source
        Where they are.
    offset : int
        Of the first of them.
    begin, end : int
        Which bytes of the dataset they are.
    """

    file: Source
    offset: int
    begin: int
    end: int


def plan_raw(dataset: h5py.Dataset, context: DatasetContext) -> ArrayPlan:
    """References into the raw files.

    Raises
    ------
    NotInPlaceError
        When they do not give the values; these may be copied.
    CannotRepresentError
        When a raw file is not there, or must not be read.
    """
    dtype = stored_dtype(dataset.id.get_type())
    nbytes = math.prod(dataset.shape) * dtype.itemsize
    pieces = _pieces(dataset, nbytes, context)
    own, shape = InPlace(OpenedDataset(dataset.id), dtype, context), tuple(dataset.shape)
    if nbytes < INLINE_BELOW:
        plan = _held(own, shape, pieces, context) if nbytes else own.empty(shape)
    elif len(pieces) == 1:
        plan = _slabs(own, shape, pieces[0], context)
    else:
        plan = _cut(own, shape, dtype, pieces, context)
    plan.sources = list({piece.file.url: piece.file for piece in pieces}.values())
    return plan


def _pieces(dataset: h5py.Dataset, nbytes: int, context: DatasetContext) -> list[Piece]:
    with reading("its raw files"):
        properties = dataset.id.get_create_plist()
        named = [properties.get_external(number) for number in range(properties.get_external_count())]
    found: list[Piece] = []
    begin = 0
    for name, offset, size in named:
        location = context.files.neighbourhood.locate(
            decode_name(name), context.file.location, by_last_part=False
        )
        end = nbytes if size == h5f.UNLIMITED else min(nbytes, begin + size)
        if end > begin:
            source = _described(location, decode_name(name))
            if source.size is not None and offset + end - begin > source.size:
                raise NotInPlaceError("a raw file is shorter than the dataset")
            found.append(Piece(source, offset, begin, end))
        begin = end
    if begin < nbytes:
        raise NotInPlaceError("its raw files are smaller than the dataset")
    return found


def _described(location: str, name: str) -> Source:
    try:
        return describe(location)
    except SourceNotFoundError as error:
        raise CannotRepresentError(f"the file {printable(name)} is not there") from error


def _held(own: InPlace, shape: tuple[int, ...], pieces: list[Piece], context: DatasetContext) -> ArrayPlan:
    """All values in one chunk, since they are few."""
    plan = own.empty(shape)
    data = b"".join(map(_bytes, pieces))
    context.budget.charge([data])
    plan.inline[(0,) * len(plan.shape)] = data
    return plan


def _bytes(piece: Piece) -> bytes:
    length = piece.end - piece.begin
    if is_remote(piece.file.url):
        (data,) = default_reader().read(piece.file.url, [FileRange(piece.offset, length)], source=piece.file)
        return bytes(data)
    with Path(piece.file.url).open("rb") as file:
        file.seek(piece.offset)
        return file.read(length)


def _slabs(own: InPlace, shape: tuple[int, ...], piece: Piece, context: DatasetContext) -> ArrayPlan:
    """A dataset in one piece, as one in the file itself is cut."""
    nbytes, url = piece.end, piece.file.url
    if nbytes <= context.contiguous_chunk_bytes or not shape:
        plan = own.empty(shape)
        plan.slabs = Slabs(piece.offset, nbytes, 1, 0, url)
        return plan
    axis = cut_axis(shape)
    row_bytes = nbytes // shape[axis]
    height = slab_height(shape[axis], row_bytes, context.contiguous_chunk_bytes)
    plan = own.empty((*shape[:axis], height, *shape[axis + 1 :]))
    plan.slabs = Slabs(piece.offset, height * row_bytes, -(-shape[axis] // height), axis, url)
    return plan


def _cut(
    own: InPlace, shape: tuple[int, ...], dtype: DType, pieces: list[Piece], context: DatasetContext
) -> ArrayPlan:
    """A dataset in several pieces: chunks that lie in one piece each."""
    chunk = _chunk_shape(shape, dtype.itemsize, pieces, context)
    size = math.prod(chunk) * dtype.itemsize
    grid = [-(-extent // edge) for extent, edge in zip(shape, chunk, strict=True)]
    count = math.prod(grid)
    if count > FEW_CHUNKS and size < LEAST_CHUNK_BYTES:
        raise NotInPlaceError("its raw files hold pieces that are too small to refer to")
    plan = own.empty(chunk)
    places = np.stack(np.unravel_index(np.arange(count), grid), axis=-1).astype(np.int64)
    zeros = np.zeros((count, len(plan.shape) - len(shape)), np.int64)
    tables: dict[str, list[ChunkTable]] = {}
    for piece in pieces:
        numbers = np.arange(piece.begin // size, piece.end // size, dtype=np.uint64)
        rows = numbers.astype(np.int64)
        tables.setdefault(piece.file.url, []).append(
            ChunkTable(
                np.hstack([places[rows], zeros[rows]]),
                np.uint64(piece.offset) + (numbers - np.uint64(piece.begin // size)) * np.uint64(size),
                np.full(len(rows), size, np.uint64),
                np.zeros(len(rows), np.uint32),
            )
        )
    plan.elsewhere = [(url, joined(parts)) for url, parts in tables.items()]
    return plan


def _chunk_shape(
    shape: tuple[int, ...], itemsize: int, pieces: list[Piece], context: DatasetContext
) -> tuple[int, ...]:
    """Chunks that follow one another in the file without gaps and end where the pieces end."""
    borders = [piece.end for piece in pieces[:-1]]
    for axis in range(cut_axis(shape), len(shape)):
        row = math.prod(shape[axis + 1 :]) * itemsize
        if any(border % row for border in borders):
            continue
        height = math.gcd(shape[axis], *(border // row for border in borders))
        height = largest_divisor(height, max(1, context.contiguous_chunk_bytes // row))
        return (*(1 for _ in shape[:axis]), height, *shape[axis + 1 :])
    raise NotInPlaceError("its raw files end in the middle of an element")
