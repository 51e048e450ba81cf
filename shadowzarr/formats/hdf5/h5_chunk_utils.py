"""Where the chunks and slabs of a dataset are in the file.

`chunk_locations` is the one place that asks for chunks. They are read from the chunk index itself
(``chunk_index``); HDF5 lists them where that is not possible. What the numbers mean for the document is
decided by ``datasets``.
"""

from __future__ import annotations

import logging
import math

import numpy as np
from h5py import h5d

from .chunk_index import DamagedIndexError, IndexRefusedError
from .chunk_table import ChunkTable as ChunkTable
from .growing_axis import true_coordinates
from .reasons import CannotRepresentError
from .stored_file import stored_table

_log = logging.getLogger("shadowzarr.chunk_index")


def chunk_locations(dataset: h5d.DatasetID) -> ChunkTable:
    """The chunks of a chunked dataset that were written.

    Chunks beyond the present shape, which a dataset that shrank may still have, are left out.

    Raises
    ------
    CannotRepresentError
        When the chunk index is damaged.
    """
    try:
        table = stored_table(dataset)
    except DamagedIndexError as error:  # what HDF5 lists may then be other than what it reads
        raise CannotRepresentError(f"its chunk index is damaged: {error}") from error
    except IndexRefusedError as error:
        _log.debug("HDF5 walks a chunk index: %s", error)
        table = None
    return listed_by_hdf5(dataset) if table is None else table


def listed_by_hdf5(dataset: h5d.DatasetID) -> ChunkTable:
    """The same as HDF5 lists it, with a call of Python for each chunk."""
    shape, edges = dataset.shape, dataset.get_create_plist().get_chunk()
    found: list[tuple[tuple[int, ...], int, int, int]] = []

    def collect(info: h5d.StoreInfo) -> None:
        found.append((info.chunk_offset, info.byte_offset or 0, info.size, info.filter_mask))

    if 0 not in shape:
        dataset.chunk_iter(collect)
    starts = np.array([entry[0] for entry in found], np.int64).reshape(len(found), len(edges))
    coordinates = true_coordinates(dataset, starts // np.array(edges, np.int64))
    starts = coordinates * np.array(edges, np.int64)
    table = ChunkTable(
        coordinates,
        np.array([entry[1] for entry in found], np.uint64),
        np.array([entry[2] for entry in found], np.uint64),
        np.array([entry[3] for entry in found], np.uint32),
    )
    inside = (starts < np.array(shape, np.int64)).all(axis=1)
    if not inside.all():
        table = table[inside]
    return table[np.lexsort(table.coordinates.T[::-1])] if len(table) else table


def contiguous_offset(dataset: h5d.DatasetID) -> int | None:
    """Where a dataset that lies in one piece begins, as HDF5 reports it; None when it was never allocated.

    Of a file with a user block, HDF5 2.0 reports "nowhere" as one byte before the block's end.
    """
    if dataset.get_space_status() == h5d.SPACE_STATUS_NOT_ALLOCATED:
        return None
    offset: int | None = dataset.get_offset()
    return offset


def commonest_mask(table: ChunkTable) -> int:
    """The filter mask that most chunks have; the smallest of them when several do."""
    if not len(table):
        return 0
    if (table.filter_masks == table.filter_masks[0]).all():
        return int(table.filter_masks[0])
    masks, counts = np.unique(table.filter_masks, return_counts=True)
    return int(masks[counts.argmax()])


def inline_chunk_shape(
    shape: tuple[int, ...], edges: tuple[int, ...], itemsize: int, target_bytes: int
) -> tuple[int, ...]:
    """Chunk shape for values that are held in the document.

    Parameters
    ----------
    shape : tuple of int
        Of the array.
    edges : tuple of int
        Chunk shape in the file, of which whole multiples are taken; ones when there is none.
    itemsize : int
        Bytes of an element.
    target_bytes : int
        Bytes of a chunk that are not exceeded, unless one chunk of the file does.
    """
    chunk = [min(edge, max(1, extent)) for edge, extent in zip(edges, shape, strict=True)]
    for axis in reversed(range(len(chunk))):
        room = target_bytes // max(1, math.prod(chunk) * itemsize)
        needed = -(-max(1, shape[axis]) // chunk[axis])
        chunk[axis] = min(chunk[axis] * max(1, min(room, needed)), max(1, shape[axis]))
        if chunk[axis] < shape[axis]:
            break
    return tuple(chunk)
