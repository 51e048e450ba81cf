"""Whether the stored chunks of a dataset hold all of its values.

HDF5 2.0 raises nothing when a chunk decodes to fewer bytes than a chunk has; the rest of its values is what
was in memory. So before values are taken from h5py, each chunk goes through the filters by itself. Chunks
that are referred to need no such look: what decodes them refuses another size.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from h5py import h5d, h5i, h5t

from ...errors import DamagedSourceError, InvalidReferencesError
from ...hdf5_filters.names import FLETCHER32
from ...hdf5_filters.pipeline import MARK, decode_chunk
from ...hdf5_types.hdf5_library import leaves_edges_unfiltered
from .h5_chunk_utils import ChunkTable, chunk_locations
from .h5_filters_to_codecs import Filter, applied, can_undo, filter_pipeline, without_idle
from .hyperslabs import Box
from .opened_object import OpenedDataset, opened
from .reasons import CannotRepresentError, reading

Rows = npt.NDArray[np.bool_]

_ADDRESS_IN_MEMORY = 8
_CHECKSUM_BYTES = 4


def check_whole(opened: OpenedDataset, table: ChunkTable, *, decode: bool = True) -> None:
    """Refuse a dataset of which a chunk is not stored whole.

    Parameters
    ----------
    opened : OpenedDataset
        A chunked dataset.
    table : ChunkTable
        Those of its chunks that are looked at.
    decode : bool, optional
        Whether chunks that went through filters are decoded; otherwise only the sizes of those that did
        not are looked at, which costs nothing.

    Raises
    ------
    CannotRepresentError
        The message names the chunk and its sizes.
    """
    if not len(table):
        return
    filters, nbytes = filter_pipeline(opened.properties), chunk_bytes(opened)
    masks = table.filter_masks.copy()
    if leaves_edges_unfiltered(opened.properties):
        masks[reaches_past(table, opened)] = 2**32 - 1
    for mask in np.unique(masks).tolist():
        used = without_idle(applied(filters, mask))
        same = table[masks == mask]
        if not used:
            _check_sizes(same, nbytes)
            continue
        if used[-1].number == FLETCHER32:
            _check_checksums(same)
        if decode and can_undo(used):  # else h5py raises itself
            _check_decoded(opened, same, used, nbytes)


def _check_sizes(table: ChunkTable, nbytes: int) -> None:
    wrong = np.flatnonzero(table.nbytes != nbytes)
    if len(wrong):
        row = int(wrong[0])
        raise CannotRepresentError(
            f"{_named(table, row)} is stored in {int(table.nbytes[row]):,} bytes without filters, "
            f"and a whole chunk has {nbytes:,}"
        )


def _check_checksums(table: ChunkTable) -> None:
    """Of what is shorter HDF5 2.0 looks for the checksum before its beginning, and the process dies."""
    short = np.flatnonzero(table.nbytes < _CHECKSUM_BYTES)
    if len(short):
        row = int(short[0])
        raise CannotRepresentError(
            f"{_named(table, row)} is stored in {int(table.nbytes[row]):,} bytes, its checksum alone has "
            f"{_CHECKSUM_BYTES}"
        )


def check_stored(dataset: h5d.DatasetID) -> None:
    """Refuse a dataset, of any layout, that `check_whole` refuses.

    Raises
    ------
    CannotRepresentError
        The message names the chunk and its sizes.
    """
    with reading():
        item = opened(dataset)
    if isinstance(item, OpenedDataset) and item.layout == h5d.CHUNKED and 0 not in (item.shape or ()):
        check_whole(item, chunk_locations(dataset))


def _check_decoded(opened: OpenedDataset, table: ChunkTable, used: tuple[Filter, ...], nbytes: int) -> None:
    pipeline = tuple((entry.number, entry.values) for entry in used)
    starts = table.coordinates * np.array(opened.edges, np.int64)
    for row, start in enumerate(starts.tolist()):
        with reading(_named(table, row)):
            _, stored = opened.id.read_direct_chunk(tuple(start))
        if bytes(stored[: len(MARK)]) == MARK:  # what we write means something else than it does to HDF5
            raise CannotRepresentError(f"{_named(table, row)} begins as those do that skip filters here")
        try:
            decode_chunk(pipeline, stored, nbytes)
        except (DamagedSourceError, InvalidReferencesError) as error:
            raise CannotRepresentError(f"{_named(table, row)}: {error}") from error


def _named(table: ChunkTable, row: int) -> str:
    return f"its chunk {tuple(table.coordinates[row].tolist())}"


def reaches_past(table: ChunkTable, opened: OpenedDataset) -> Rows:
    """Which chunks reach past the data."""
    past: Rows = np.zeros(len(table), np.bool_)
    for column, edge, extent in zip(table.coordinates.T, opened.edges, opened.shape or (), strict=True):
        past |= column >= extent // edge
    return past


def touched(box: Box | None, table: ChunkTable, opened: OpenedDataset) -> Rows:
    """Which chunks a selection may reach into, by its bounds; all when it has none."""
    if box is None or not box.axes or box.unlimited is not None:
        return np.ones(len(table), bool)
    starts = table.coordinates * np.array(opened.edges, np.int64)
    stops = starts + np.array(opened.edges, np.int64)
    first = np.array([axis[0] for axis in box.axes], np.int64)
    inside: Rows = ((stops > first) & (starts < np.array(box.ends(), np.int64))).all(axis=1)
    return inside


def chunk_bytes(opened: OpenedDataset) -> int:
    """Bytes of a whole chunk before filters."""
    return int(math.prod(opened.edges)) * _stored_size(opened)


def _stored_size(opened: OpenedDataset) -> int:
    """Bytes of an element in the file, where what lies in a heap is a length, an address and a number."""
    size = int(opened.tid.get_size())  # as an open dataset gives it, in memory
    if not opened.type.has_heap:
        return size
    address, _ = h5i.get_file_id(opened.id).get_create_plist().get_sizes()
    return size + _difference(opened.tid, int(address))


def _difference(tid: h5t.TypeID, address: int) -> int:
    """Bytes by which an element is longer in the file than in memory."""
    match tid.get_class():
        case h5t.VLEN:
            return 4 + address + 4 - int(tid.get_size())
        case h5t.STRING if tid.is_variable_str():
            return 4 + address + 4 - int(tid.get_size())
        case h5t.ARRAY:
            return int(math.prod(tid.get_array_dims())) * _difference(tid.get_super(), address)
        case h5t.COMPOUND:
            return sum(_difference(tid.get_member_type(n), address) for n in range(tid.get_nmembers()))
        case h5t.REFERENCE:
            return address - _ADDRESS_IN_MEMORY
        case _:
            return 0
