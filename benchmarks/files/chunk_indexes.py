"""Files of one large dataset, by kind of chunk index."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from .chunk_values import allocate, fill_blocks, fill_every_chunk, values

MEASURED_ROW = 3
"""The row of chunks that has values in the scattered file."""


def write_scattered(path: Path, *, rows: int, channels: int, samples: int) -> None:
    """Version 1 B-tree whose nodes lie between the chunks, over the whole of a sparse file.

    Chunks are ``samples`` by 1; one row of them has values.
    """
    with h5py.File(path, "w") as file:
        allocate(file, "data", (rows * samples, channels), (samples, 1))
    fill_blocks(path, "data", [MEASURED_ROW], seed=1)


def write_tiny(path: Path, *, rows: int, channels: int, samples: int) -> None:
    """Version 1 B-tree of very small chunks, ``samples`` by 1, all with values."""
    with h5py.File(path, "w") as file:
        allocate(file, "data", (rows * samples, channels), (samples, 1))
    fill_every_chunk(path, "data", seed=2)


def write_neighbours(path: Path, *, chunks: int, samples: int) -> None:
    """One axis of small chunks one after the other."""
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=values((chunks * samples,), seed=3), chunks=(samples,))


def write_index(path: Path, *, growing: int, chunks: int, nbytes: int) -> None:
    """Chunks in the order of writing, with the index that HDF5 1.10 chooses.

    Parameters
    ----------
    path : Path
        Where to.
    growing : int
        Axes without limit: 0 gives a fixed array, 1 an extensible array, 2 a version 2 B-tree.
    chunks, nbytes : int
        Number and size.
    """
    columns = 10
    height = nbytes // 2
    shape, chunk = (chunks // columns * height, columns), (height, 1)
    limits = tuple(None if axis < growing else extent for axis, extent in enumerate(shape))
    raw = values((height,), seed=4)
    with h5py.File(path, "w", libver="latest") as file:
        data = file.create_dataset("data", shape, np.int16, chunks=chunk, maxshape=limits)
        for number in range(chunks):
            row, column = divmod(number, columns)
            raw[0] = number % 30_000
            data.id.write_direct_chunk((row * height, column), raw)


def write_contiguous(path: Path, *, samples: int, channels: int) -> None:
    """One slab."""
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=values((samples, channels), seed=5))
