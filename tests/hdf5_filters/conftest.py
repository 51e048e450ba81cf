"""Chunks that HDF5 itself has written, and what h5py reads of them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest

from shadowzarr.hdf5_filters.names import Filters


class Chunk(NamedTuple):
    """A chunk in a file: its filters, the filter mask, its stored bytes, and h5py's values as bytes."""

    filters: Filters
    mask: int
    stored: bytes
    values: bytes


@pytest.fixture
def chunk_of(tmp_path) -> Callable[..., Chunk]:
    """Write values as one chunk behind filters."""

    def write(values: np.ndarray, **options: Any) -> Chunk:
        path = tmp_path / "chunk.h5"
        with h5py.File(path, "w") as f:
            dataset = f.create_dataset("d", data=values, chunks=values.shape, **options)
            f.flush()
            properties = dataset.id.get_create_plist()
            entries = [properties.get_filter(number) for number in range(properties.get_nfilters())]
            mask, stored = dataset.id.read_direct_chunk((0,) * values.ndim)
        with h5py.File(path) as f:
            read = f["d"][...].astype(values.dtype, copy=False)
        return Chunk(tuple((entry[0], entry[2]) for entry in entries), mask, stored, read.tobytes())

    return write
