"""walk_index: the chunk index of a dataset, whatever its kind → the table of its chunks.

Pure: bytes of nodes in, groups of nodes out. Few levels: a v1 B-tree has as many as nodes lie above each
other, a v2 B-tree one more, an extensible array four, a fixed array two or three; the other kinds need none.
"""

from __future__ import annotations

import numpy as np

from ..chunk_table import ChunkTable
from .array_entries import implicit_entries, single_entry
from .entries import Entries, table_of
from .extensible_array import walk_extensible_array
from .fixed_array import walk_fixed_array
from .layout import ChunkIndexLayout
from .nodes import AddressSpace, Walk
from .refusal import understood
from .v1_btree import walk_v1_btree
from .v2_btree import walk_v2_btree

_WALKS = {
    "v1_btree": walk_v1_btree,
    "fixed_array": walk_fixed_array,
    "extensible_array": walk_extensible_array,
    "v2_btree": walk_v2_btree,
}
_ADDRESS_SIZES = (2, 4, 8)


def walk_index(layout: ChunkIndexLayout) -> Walk[ChunkTable]:
    """Walk the chunk index of a dataset.

    Parameters
    ----------
    layout : ChunkIndexLayout
        The dataset.

    Yields
    ------
    list of NodeGroup
        The nodes of the next level; send their bytes, an array per group.

    Returns
    -------
    ChunkTable
        The chunks that were written, inside the present shape, in order; offsets count from the start of the
        file.

    Raises
    ------
    IndexRefusedError
        For what is not known here.
    DamagedIndexError
        For an index that contradicts itself or the file.
    """
    entries = yield from _entries(layout)
    return table_of(entries, layout)


def _entries(layout: ChunkIndexLayout) -> Walk[Entries]:
    storage = layout.storage
    understood(len(storage.edges) == len(layout.shape) == len(layout.max_shape), "chunks of another rank")
    understood(layout.sizes.offset_size in _ADDRESS_SIZES, f"addresses of {layout.sizes.offset_size} bytes")
    understood(layout.sizes.length_size <= 8, f"lengths of {layout.sizes.length_size} bytes")
    if storage.address is None or 0 in layout.shape:
        none = np.zeros(0, np.uint64)
        return Entries(none, none, none.astype(np.uint32), np.zeros((0, len(layout.shape)), np.int64))
    if storage.kind == "single":
        return single_entry(layout)
    if storage.kind == "implicit":
        return implicit_entries(layout)
    space = AddressSpace(layout.sizes, layout.file_size)
    entries = yield from _WALKS[storage.kind](layout, space)
    return entries
