"""Values of chunks, so that one chunk is never mistaken for another, and placing them by memory map.

HDF5 allocates all chunks of a dataset in one go without writing any: the index is real and the file is
sparse. Values are then put where the index says, which takes seconds for two million chunks.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
from h5py import h5d, h5p, h5s, h5t

Int16Array = npt.NDArray[np.int16]


def values(shape: tuple[int, ...], seed: int) -> Int16Array:
    """Noise of 12 bits, as an acquisition system gives it."""
    return np.random.default_rng(seed).integers(-2048, 2048, shape, dtype=np.int16)


def allocate(
    parent: h5py.Group, name: str, shape: tuple[int, ...], chunks: tuple[int, ...], *, growing: int = 0
) -> None:
    """Make a dataset of int16 whose chunks are all allocated and none written.

    Parameters
    ----------
    parent : h5py.Group
        Where to.
    name : str
        Its name.
    shape, chunks : tuple of int
        Of the dataset.
    growing : int
        Number of leading axes without limit, which decides the kind of chunk index.
    """
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk(chunks)
    properties.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5d.FILL_TIME_NEVER)
    limits = tuple(h5s.UNLIMITED if axis < growing else extent for axis, extent in enumerate(shape))
    h5d.create(parent.id, name.encode(), h5t.STD_I16LE, h5s.create_simple(shape, limits), properties)


def fill_every_chunk(path: Path, dataset: str, seed: int) -> None:
    """Put noise into every chunk of an allocated dataset, each other noise."""
    with h5py.File(path) as file:
        chunk = int(np.prod(file[dataset].chunks))
        offsets = chunk_table(file[dataset])[0]
    order = np.arange(chunk) * 2
    raw = np.memmap(path, dtype=np.uint8, mode="r+")
    noise = values((len(offsets), chunk), seed).view(np.uint8)
    for part in range(0, len(offsets), 100_000):
        places = (offsets[part : part + 100_000, None] + order).astype(np.int64)
        for byte in range(2):
            raw[places + byte] = noise[part : part + 100_000, byte::2]
    raw.flush()


def fill_blocks(path: Path, dataset: str, rows: Iterable[int], seed: int) -> None:
    """Put noise into some rows of chunks of an allocated dataset; the others stay holes, which read as 0."""
    with h5py.File(path, "r+") as file:
        data = file[dataset]
        height = data.chunks[0]
        for row in rows:
            data[row * height : (row + 1) * height] = values((height, *data.shape[1:]), seed + row)


def chunk_table(dataset: h5py.Dataset) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Offsets and sizes of the chunks as HDF5 itself lists them."""
    found: list[tuple[int, int]] = []
    dataset.id.chunk_iter(lambda stored: found.append((stored.byte_offset, stored.size)))
    table = np.array(found, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
