"""What the walk of a chunk index needs to know before it reads the first node.

Sizes are the superblock's, the rest comes from the dataset's object header: data layout message, dataspace
and filter pipeline. Who finds them there is not decided here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

IndexKind = Literal["v1_btree", "single", "implicit", "fixed_array", "extensible_array", "v2_btree"]

CHUNK_BTREE_K = 32
"""Half of the children of a v1 B-tree node for chunks, unless the superblock says otherwise."""


@dataclass(frozen=True, slots=True)
class FieldSizes:
    """Sizes that the superblock gives (HDF5 File Format, II.A "Format Signature and Superblock").

    Attributes
    ----------
    offset_size, length_size : int
        Bytes of an address and of a length.
    base_address : int
        Where in the file the address 0 is: bytes of the user block.
    chunk_btree_k : int
        Half of the most children of a v1 B-tree node for chunks.
    """

    offset_size: int = 8
    length_size: int = 8
    base_address: int = 0
    chunk_btree_k: int = CHUNK_BTREE_K

    @property
    def undefined(self) -> int:
        """The address that stands for none."""
        return (1 << (8 * self.offset_size)) - 1


@dataclass(frozen=True, slots=True)
class ExtensibleArrayParameters:
    """How an extensible array grows (IV.A.2.i "Data Layout", index type 4).

    Attributes
    ----------
    max_elements_bits : int
        Bits of the largest element number.
    index_block_elements : int
        Elements in the index block.
    min_pointers : int
        Data block pointers of the smallest super block.
    min_elements : int
        Elements of the smallest data block.
    page_bits : int
        Bits of an element's number in its page.
    """

    max_elements_bits: int
    index_block_elements: int
    min_pointers: int
    min_elements: int
    page_bits: int


@dataclass(frozen=True, slots=True)
class ChunkedStorage:
    """What the data layout message says of a chunked dataset.

    Attributes
    ----------
    version : int
        Of the message.
    kind : str
        Of the index.
    address : int or None
        Of the index, relative to the base address; None when nothing was written.
    edges : tuple of int
        Chunk shape.
    element_size : int
        Bytes of an element.
    skips_filters_at_edges : bool
        Whether chunks that reach past the data are stored as they are.
    filtered_size, filter_mask : int or None
        Of the only chunk, when it went through filters.
    page_bits : int
        Of a fixed array: bits of an element's number in its page.
    growth : ExtensibleArrayParameters or None
        Of an extensible array.
    node_size : int
        Of a v2 B-tree.
    """

    version: int
    kind: IndexKind
    address: int | None
    edges: tuple[int, ...]
    element_size: int
    skips_filters_at_edges: bool = False
    filtered_size: int | None = None
    filter_mask: int = 0
    page_bits: int = 0
    growth: ExtensibleArrayParameters | None = None
    node_size: int = 0

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk without filters."""
        return math.prod(self.edges) * self.element_size


@dataclass(frozen=True, slots=True)
class ChunkIndexLayout:
    """A chunked dataset whose index is to be walked.

    Attributes
    ----------
    storage : ChunkedStorage
        From its data layout message.
    shape : tuple of int
        From its dataspace.
    max_shape : tuple of (int or None)
        None along an axis without limit.
    is_filtered : bool
        Whether it has a filter pipeline with filters in it.
    file_size : int
        Bytes of the file, user block included.
    sizes : FieldSizes
        From the superblock.
    """

    storage: ChunkedStorage
    shape: tuple[int, ...]
    max_shape: tuple[int | None, ...]
    is_filtered: bool
    file_size: int
    sizes: FieldSizes = field(default_factory=FieldSizes)
