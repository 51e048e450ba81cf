"""Our own reader of chunk indexes: bytes of nodes in, arrays of chunks and the next nodes out.

HDF5's own walk reads one node after the other and calls Python once per chunk. Here a level of nodes is
read at once and decoded at once. No file is opened here, and h5py is not imported.
"""

from .layout import ChunkedStorage, ChunkIndexLayout, FieldSizes
from .layout_message import LayoutMessage, parse_layout
from .nodes import NodeGroup, Walk, drive
from .refusal import DamagedIndexError, IndexRefusedError
from .walk import walk_index

__all__ = [
    "ChunkIndexLayout",
    "ChunkedStorage",
    "DamagedIndexError",
    "FieldSizes",
    "IndexRefusedError",
    "LayoutMessage",
    "NodeGroup",
    "Walk",
    "drive",
    "parse_layout",
    "walk_index",
]
