"""Elements of fixed and extensible arrays → chunks; implicit indexes are arrays that are not stored.

HDF5 File Format, VII.B "Implicit Index", VII.C "The Fixed Array Index", VII.D "The Extensible Array Index":
an array has an element per chunk of the largest shape, the number of a chunk being its place in row-major
order. In an extensible array the unlimited axis comes first.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .entries import Entries
from .layout import ChunkIndexLayout
from .nodes import Bytes2D
from .numbers import unsigned
from .refusal import sound, understood

MASK_SIZE = 4

Numbers = npt.NDArray[np.int64]


def size_width(layout: ChunkIndexLayout) -> int:
    """Bytes of the size of a chunk that went through filters.

    Enough for the chunk's own size and one byte more, since a filter may make it larger; from version 5 of
    the layout message on as many as a length has.
    """
    if layout.storage.version >= 5:
        return layout.sizes.length_size
    return min(8, 1 + (layout.storage.chunk_bytes.bit_length() + 7) // 8)


def element_width(layout: ChunkIndexLayout) -> int:
    """Bytes of what an index says of a chunk beside its coordinates."""
    more = size_width(layout) + MASK_SIZE if layout.is_filtered else 0
    return layout.sizes.offset_size + more


def check_client(client: npt.NDArray[np.uint8] | int, layout: ChunkIndexLayout) -> None:
    """Whether the array is one of chunks with filters, or without: its "client ID"."""
    sound((np.asarray(client) == int(layout.is_filtered)).all(), "an array of another kind of chunks")


def largest_grid(layout: ChunkIndexLayout) -> tuple[tuple[int, ...], int | None]:
    """Chunks along each axis of the largest shape, 0 along the unlimited axis, and that axis."""
    unlimited = [axis for axis, extent in enumerate(layout.max_shape) if extent is None]
    understood(len(unlimited) <= 1, "an array of chunks along several unlimited axes")
    pairs = zip(layout.max_shape, layout.storage.edges, strict=True)
    grid = tuple(0 if extent is None else -(-extent // edge) for extent, edge in pairs)
    return grid, unlimited[0] if unlimited else None


def coordinates_of(numbers: Numbers, layout: ChunkIndexLayout) -> npt.NDArray[np.int64]:
    """Coordinates of the chunks with these numbers."""
    grid, unlimited = largest_grid(layout)
    coordinates = np.zeros((len(numbers), len(grid)), np.int64)
    axes = [axis for axis in range(len(grid)) if axis != unlimited]
    slowest = unlimited if unlimited is not None else axes.pop(0)
    rest = numbers
    for axis in reversed(axes):
        if grid[axis] < 2**63:
            rest, coordinates[:, axis] = np.divmod(rest, np.int64(max(1, grid[axis])))
        else:
            rest, coordinates[:, axis] = np.zeros_like(rest), rest
    coordinates[:, slowest] = rest
    return coordinates


def entries_of(elements: Bytes2D, numbers: Numbers, layout: ChunkIndexLayout) -> Entries:
    """Chunks from elements, a row each; those that were never written are left out."""
    width = layout.sizes.offset_size
    addresses = unsigned(elements[:, :width])
    written = addresses != layout.sizes.undefined
    if not written.all():
        elements, numbers, addresses = elements[written], numbers[written], addresses[written]
    nbytes, masks = sizes_and_masks(elements[:, width:], layout)
    return Entries(addresses, nbytes, masks, coordinates_of(numbers, layout))


def sizes_and_masks(
    rest: Bytes2D, layout: ChunkIndexLayout
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """What follows the address of a chunk: of chunks without filters nothing."""
    if not layout.is_filtered:
        nbytes = np.full(len(rest), layout.storage.chunk_bytes, np.uint64)
        return nbytes, np.zeros(len(rest), np.uint32)
    width = size_width(layout)
    masks = unsigned(rest[:, width : width + MASK_SIZE]).astype(np.uint32)
    return unsigned(rest[:, :width]), masks


def implicit_entries(layout: ChunkIndexLayout) -> Entries:
    """Chunks that lie one after the other, each of them there."""
    storage = layout.storage
    grid, unlimited = largest_grid(layout)
    understood(unlimited is None, "an implicit index along an unlimited axis")
    end = layout.sizes.base_address + (storage.address or 0) + math.prod(grid) * storage.chunk_bytes
    sound(end <= layout.file_size, "chunks that end after the end of the file")
    numbers = np.arange(math.prod(grid), dtype=np.int64)
    addresses = numbers.astype(np.uint64) * np.uint64(storage.chunk_bytes) + np.uint64(storage.address or 0)
    nbytes = np.full(len(numbers), storage.chunk_bytes, np.uint64)
    return Entries(addresses, nbytes, np.zeros(len(numbers), np.uint32), coordinates_of(numbers, layout))


def single_entry(layout: ChunkIndexLayout) -> Entries:
    """The only chunk; HDF5 File Format, VII.A "Single Chunk Index"."""
    storage = layout.storage
    understood(
        (storage.filtered_size is not None) == layout.is_filtered, "a chunk whose filters are in doubt"
    )
    nbytes = storage.chunk_bytes if storage.filtered_size is None else storage.filtered_size
    return Entries(
        np.array([storage.address], np.uint64),
        np.array([nbytes], np.uint64),
        np.array([storage.filter_mask], np.uint32),
        np.zeros((1, len(storage.edges)), np.int64),
    )
