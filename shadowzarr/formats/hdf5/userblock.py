"""Files with a userblock, as MATLAB's are: where HDF5's offsets count from.

HDF5 1.14 and later counts from the start of the file, 1.10 from the end of the userblock. So one stored
block is compared with the bytes at both places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import h5py
import numpy as np
from h5py import h5d, h5s

from .h5_chunk_utils import chunk_locations, contiguous_offset
from .reasons import CannotRepresentError, reading

_COMPARED = 4096
_TRIED = 32

ReadBytes = Callable[[int, int], bytes]


def offset_shift(userblock: int, datasets: Iterable[h5py.Dataset], read_bytes: ReadBytes) -> int:
    """What has to be added to the offsets that HDF5 reports.

    Parameters
    ----------
    userblock : int
        Bytes of the userblock.
    datasets : iterable of h5py.Dataset
        Candidates for the comparison; only as many as needed are taken.
    read_bytes : callable
        ``read_bytes(offset, length)`` gives bytes of the file.

    Returns
    -------
    int
        0 or ``userblock``; 0 also when no block tells.
    """
    if not userblock:
        return 0
    for number, dataset in enumerate(datasets):
        if number >= _TRIED:
            break
        try:
            block = stored_block(dataset)
        except CannotRepresentError:
            continue
        if block is None:
            continue
        offset, data = block
        matches = [shift for shift in (0, userblock) if read_bytes(offset + shift, len(data)) == data]
        if len(matches) == 1:
            return matches[0]
    return 0


def stored_block(dataset: h5py.Dataset) -> tuple[int, bytes] | None:
    """Offset as HDF5 reports it and bytes as HDF5 reads them of some block; None when there is none.

    Raises
    ------
    CannotRepresentError
        When HDF5 cannot read it.
    """
    with reading():
        properties = dataset.id.get_create_plist()
        if dataset.shape is None or 0 in dataset.shape or properties.get_external_count():
            return None
        if properties.get_layout() == h5d.CHUNKED:
            return _first_chunk(dataset)
        if properties.get_layout() != h5d.CONTIGUOUS or dataset.dtype.hasobject:
            return None
        offset = contiguous_offset(dataset.id)
        if offset is None:
            return None
        return offset, _first_values(dataset)


def _first_chunk(dataset: h5py.Dataset) -> tuple[int, bytes] | None:
    table = chunk_locations(dataset.id)
    if not len(table):
        return None
    start = table.coordinates[0] * np.array(dataset.chunks, np.int64)
    _, data = dataset.id.read_direct_chunk(tuple(start.tolist()))
    return int(table.offsets[0]), bytes(data)[:_COMPARED]


def _first_values(dataset: h5py.Dataset) -> bytes:
    tid = dataset.id.get_type()
    space = dataset.id.get_space()
    width = min(dataset.shape[-1], max(1, _COMPARED // tid.get_size())) if dataset.shape else 1
    count = (*(1,) * (len(dataset.shape) - 1), width) if dataset.shape else ()
    if count:
        space.select_hyperslab((0,) * len(count), count)
    values = np.zeros(width, f"V{tid.get_size()}")
    memory = h5s.create_simple((width,)) if count else h5s.create(h5s.SCALAR)
    dataset.id.read(memory, space, values if count else values.reshape(()), tid.copy())
    return values.tobytes()
