"""How large the blocks of an extensible array are, and which elements are in them.

HDF5 File Format, VII.D "The Extensible Array Index": super block u has 2**(u // 2) data blocks, each of
2**((u + 1) // 2) times the smallest number of elements. The data blocks of the first super blocks are pointed
to from the index block, without super blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from .checksum import CHECKSUM_SIZE
from .layout import ExtensibleArrayParameters

PREFIX = 6
"""Signature, version and client ID."""


@dataclass(frozen=True, slots=True)
class SuperBlock:
    """One super block, or the data blocks that would be in it.

    Attributes
    ----------
    start : int
        Number of its first element, those of the index block not counted.
    blocks : int
        Its data blocks.
    elements : int
        Elements of each.
    """

    start: int
    blocks: int
    elements: int


@dataclass(frozen=True, slots=True)
class Geometry:
    """The sizes of an array's parts.

    Attributes
    ----------
    parameters : ExtensibleArrayParameters
        From the array's header.
    width : int
        Bytes of an element.
    offset_size : int
        Bytes of an address.
    """

    parameters: ExtensibleArrayParameters
    width: int
    offset_size: int

    def super_block(self, number: int) -> SuperBlock:
        """A super block by its number."""
        smallest = self.parameters.min_elements
        start = smallest * ((1 << number) - 1)
        return SuperBlock(start, 1 << (number // 2), smallest << ((number + 1) // 2))

    @property
    def super_blocks(self) -> int:
        """Super blocks of the largest array."""
        return 1 + self.parameters.max_elements_bits - (self.parameters.min_elements.bit_length() - 1)

    @property
    def direct(self) -> int:
        """Super blocks whose data blocks the index block points to."""
        return 2 * (self.parameters.min_pointers.bit_length() - 1)

    @property
    def page_elements(self) -> int:
        """Elements of a page."""
        return 1 << self.parameters.page_bits

    @property
    def page(self) -> int:
        """Bytes of a page."""
        return self.page_elements * self.width + CHECKSUM_SIZE

    @property
    def before(self) -> int:
        """Bytes of a super block or data block before what is in it: prefix, header address, block offset."""
        return PREFIX + self.offset_size + -(-self.parameters.max_elements_bits // 8)

    def pages(self, block: SuperBlock) -> int:
        """Pages of each data block; 0 when it holds the elements itself."""
        return block.elements // self.page_elements if block.elements > self.page_elements else 0

    def bitmaps(self, block: SuperBlock) -> int:
        """Bytes of a super block that tell which pages are there."""
        return block.blocks * -(-self.pages(block) // 8)

    def super_block_bytes(self, block: SuperBlock) -> int:
        """Bytes of a super block."""
        return self.before + self.bitmaps(block) + block.blocks * self.offset_size + CHECKSUM_SIZE

    def data_block_bytes(self, block: SuperBlock) -> int:
        """Bytes of a data block without its pages."""
        elements = 0 if self.pages(block) else block.elements * self.width
        return self.before + elements + CHECKSUM_SIZE
