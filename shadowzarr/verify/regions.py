"""Which parts of an array are compared: whole chunks, all of them or a seeded choice.

Pure arithmetic on shapes. A region is one slice per axis, clipped to the array; the regions of a full
comparison cover the array once, follow its chunk grid and are small enough to be held in memory.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Sequence

Region = tuple[slice, ...]
Coordinates = tuple[int, ...]

BLOCK_BYTES = 32 * 2**20
"""How much is read at once from either side. Larger chunks are compared in pieces."""

SAMPLED_CHUNKS = 8
"""How many chunks of an array are chosen by chance, beside the first, the last and those at edges."""

UNWRITTEN_BYTES = 2**20
"""How much is read at once of regions that nobody wrote; it may be many small chunks."""

MOST_CORNERS = 32
"""How many corners of the chunk grid are compared; more axes than five have more corners."""


def grid_shape(shape: Sequence[int], chunk_shape: Sequence[int]) -> Coordinates:
    """Number of chunks along each axis."""
    return tuple(-(-extent // edge) for extent, edge in zip(shape, chunk_shape, strict=True))


def chunk_region(coordinates: Sequence[int], chunk_shape: Sequence[int], shape: Sequence[int]) -> Region:
    """The part of the array that one chunk holds."""
    return tuple(
        slice(place * edge, min((place + 1) * edge, extent))
        for place, edge, extent in zip(coordinates, chunk_shape, shape, strict=True)
    )


def region_shape(region: Region) -> tuple[int, ...]:
    """Shape of what a region selects."""
    return tuple(part.stop - part.start for part in region)


def region_text(region: Region) -> str:
    """A region as numpy would be asked for it, for reports."""
    return "[" + ", ".join(f"{part.start}:{part.stop}" for part in region) + "]"


def chunks_in(region: Region, chunk_shape: Sequence[int]) -> int:
    """How many chunks a region touches."""
    return math.prod(
        -(-part.stop // edge) - part.start // edge for part, edge in zip(region, chunk_shape, strict=True)
    )


def full_regions(
    shape: Sequence[int], chunk_shape: Sequence[int], itemsize: int, *, block_bytes: int = BLOCK_BYTES
) -> Iterator[Region]:
    """Regions that cover an array once, each of whole chunks as far as ``block_bytes`` allows.

    Parameters
    ----------
    shape, chunk_shape : sequence of int
        Of equal length; both empty for a scalar, which is one region.
    itemsize : int
        Bytes of one element.
    block_bytes : int
        The most that a region may hold; a single element may be larger.
    """
    block = block_shape(shape, chunk_shape, itemsize, block_bytes=block_bytes)
    for coordinates in itertools.product(*map(range, grid_shape(shape, block))):
        yield from split(chunk_region(coordinates, block, shape), itemsize, block_bytes=block_bytes)


def block_shape(
    shape: Sequence[int], chunk_shape: Sequence[int], itemsize: int, *, block_bytes: int = BLOCK_BYTES
) -> tuple[int, ...]:
    """A chunk, made larger by whole chunks while it fits: along the last axis first."""
    block = list(chunk_shape)
    for axis in reversed(range(len(block))):
        size = max(1, itemsize) * math.prod(block)
        wanted = -(-shape[axis] // block[axis])
        block[axis] *= max(1, min(wanted, block_bytes // max(1, size)))
        if block[axis] < shape[axis]:
            break  # a longer block along an earlier axis would not be one piece of the array
    return tuple(block)


def split(region: Region, itemsize: int, *, block_bytes: int = BLOCK_BYTES) -> Iterator[Region]:
    """Pieces of a region that hold at most ``block_bytes``, whole along the last axes."""
    shape = region_shape(region)
    piece = piece_shape(shape, itemsize, block_bytes=block_bytes)
    for coordinates in itertools.product(*map(range, grid_shape(shape, piece))):
        yield _within(region, chunk_region(coordinates, piece, shape))


def piece_shape(shape: Sequence[int], itemsize: int, *, block_bytes: int = BLOCK_BYTES) -> tuple[int, ...]:
    """Shape of the pieces that `split` makes."""
    room = max(1, block_bytes // max(1, itemsize))
    piece = []
    for extent in reversed(shape):
        piece.append(max(1, min(extent, room)))
        room //= piece[-1]
    return tuple(reversed(piece))


def _within(region: Region, part: Region) -> Region:
    """A part of a region, from the region's start, as a part of the array."""
    return tuple(
        slice(whole.start + cut.start, whole.start + cut.stop)
        for whole, cut in zip(region, part, strict=True)
    )


def sampled_regions(
    shape: Sequence[int],
    chunk_shape: Sequence[int],
    itemsize: int,
    *,
    seed: str,
    sampled_chunks: int = SAMPLED_CHUNKS,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Region]:
    """Regions of a seeded choice of chunks: see `sampled_coordinates`."""
    grid = grid_shape(shape, chunk_shape)
    for coordinates in sampled_coordinates(grid, seed=seed, sampled_chunks=sampled_chunks):
        region = chunk_region(coordinates, chunk_shape, shape)
        yield from _sampled_pieces(region, itemsize, f"{seed}:{coordinates}", block_bytes)


def _sampled_pieces(region: Region, itemsize: int, seed: str, block_bytes: int) -> Iterator[Region]:
    """A chunk that does not fit into memory is itself sampled."""
    shape = region_shape(region)
    piece = piece_shape(shape, itemsize, block_bytes=block_bytes)
    for coordinates in sampled_coordinates(grid_shape(shape, piece), seed=seed, sampled_chunks=2):
        yield _within(region, chunk_region(coordinates, piece, shape))


def stored_regions(
    stored: Iterable[Coordinates],
    shape: Sequence[int],
    chunk_shape: Sequence[int],
    itemsize: int,
    *,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Region]:
    """Regions of given chunks, and a few others of the array: its first, its last, and some by chance."""
    for place in stored:
        yield from split(chunk_region(place, chunk_shape, shape), itemsize, block_bytes=block_bytes)
    whole = tuple(slice(0, extent) for extent in shape)
    yield from _sampled_pieces(whole, itemsize, "0", min(block_bytes, UNWRITTEN_BYTES))


def sampled_coordinates(
    grid: Sequence[int], *, seed: str, sampled_chunks: int = SAMPLED_CHUNKS
) -> list[Coordinates]:
    """Choose chunks of a grid: the first, the last, those at the edges, and some by chance.

    Of each edge (the last chunks along one axis, which may reach past the array) its corner and one
    chunk by chance are taken; a grid of two axes may have thousands of edge chunks.

    Parameters
    ----------
    grid : sequence of int
        Number of chunks along each axis; an axis of 0 means that there is no chunk.
    seed : str
        The same seed chooses the same chunks.
    sampled_chunks : int
        How many to add by chance.

    Returns
    -------
    list of tuple of int
        In the order of the grid, each once.
    """
    if math.prod(grid) <= sampled_chunks:
        return list(itertools.product(*map(range, grid)))
    chance = random.Random(seed)  # noqa: S311 - a repeatable choice, nothing secret
    corners = itertools.product(*((0, extent - 1) if extent > 1 else (0,) for extent in grid))
    chosen = set(itertools.islice(corners, MOST_CORNERS)) | {tuple(extent - 1 for extent in grid)}
    for axis, extent in enumerate(grid):
        at_edge = [chance.randrange(each) for each in grid]
        at_edge[axis] = extent - 1
        chosen.add(tuple(at_edge))
    chosen |= {tuple(chance.randrange(extent) for extent in grid) for _ in range(sampled_chunks)}
    return sorted(chosen)
