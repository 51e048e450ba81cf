"""Fixed arrays of chunks.

HDF5 File Format, VII.C "The Fixed Array Index": header, data block and, when it is paged, its pages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .array_entries import Numbers, check_client, element_width, entries_of, largest_grid
from .checksum import CHECKSUM_SIZE, check
from .entries import Entries
from .layout import ChunkIndexLayout
from .nodes import AddressSpace, Bytes2D, Walk
from .numbers import unsigned
from .refusal import sound, understood

_PREFIX = 6
"""Signature, version and client ID."""

READ_WHOLE = 2**20
"""Bytes of a data block that is read with all its pages at once; of a larger one those that are there."""


@dataclass(frozen=True, slots=True)
class _Form:
    """Sizes of an array's parts.

    Attributes
    ----------
    count : int
        Elements.
    width : int
        Bytes of an element.
    page_elements : int
        Elements of a page but the last.
    before : int
        Bytes of a data block before its page bitmap.
    """

    count: int
    width: int
    page_elements: int
    before: int

    @property
    def pages(self) -> int:
        """Number of pages; 0 when the data block holds the elements itself."""
        return -(-self.count // self.page_elements) if self.count > self.page_elements else 0

    @property
    def bitmap(self) -> int:
        """Bytes that tell which pages are there."""
        return -(-self.pages // 8)

    @property
    def page(self) -> int:
        """Bytes of a page but the last."""
        return self.page_elements * self.width + CHECKSUM_SIZE

    @property
    def last_page(self) -> int:
        """Bytes of the last page."""
        return (self.count - (self.pages - 1) * self.page_elements) * self.width + CHECKSUM_SIZE

    @property
    def block(self) -> int:
        """Bytes of the data block without its pages."""
        elements = 0 if self.pages else self.count * self.width
        return self.before + self.bitmap + elements + CHECKSUM_SIZE

    @property
    def whole(self) -> int:
        """Bytes of the data block with its pages."""
        return self.block + ((self.pages - 1) * self.page + self.last_page if self.pages else 0)


def walk_fixed_array(layout: ChunkIndexLayout, space: AddressSpace) -> Walk[Entries]:
    """Walk a fixed array: header, data block, and pages unless they came with it."""
    sizes = layout.sizes
    (header,) = yield [
        space.group(layout.storage.address or 0, _PREFIX + 2 + sizes.length_size + sizes.offset_size + 4)
    ]
    form, address = _read_header(header, layout)
    if address == sizes.undefined:
        return entries_of(np.zeros((0, form.width), np.uint8), np.zeros(0, np.int64), layout)
    comes_whole = form.whole <= READ_WHOLE
    (block,) = yield [space.group(address, form.whole if comes_whole else form.block)]
    _check_block(block[:, : form.block], form, layout)
    if not form.pages:
        elements = block[0, form.before : form.before + form.count * form.width]
        return entries_of(elements.reshape(form.count, form.width), np.arange(form.count), layout)
    bitmap = block[0, form.before : form.before + form.bitmap]
    present = np.flatnonzero(np.unpackbits(bitmap, count=form.pages))  # the first page has the highest bit
    if comes_whole:
        full, last = _cut(block[0, form.block :], form)
        full, last = full[present[present < form.pages - 1]], last[: int(form.pages - 1 in present)]
    else:
        starts = address + form.block + present * form.page
        is_last = present == form.pages - 1
        full, last = yield [
            space.group(starts[~is_last].astype(np.uint64), form.page),
            space.group(starts[is_last].astype(np.uint64), form.last_page),
        ]
    return _from_pages(full, last, present, form, layout)


def _read_header(header: Bytes2D, layout: ChunkIndexLayout) -> tuple[_Form, int]:
    """VII.C, "Fixed Array Header": sizes, and the address of the data block."""
    sound(header[0, :4].tobytes() == b"FAHD", "a fixed array header without its signature")
    check(header)
    understood(header[0, 4] == 0, "a fixed array of another version")
    check_client(header[0, 5], layout)
    sizes = layout.sizes
    count = int(unsigned(header[0, 8 : 8 + sizes.length_size]))
    grid, unlimited = largest_grid(layout)
    sound(unlimited is None and count == math.prod(grid), "a fixed array of another number of chunks")
    sound(header[0, 6] == element_width(layout), "a fixed array with elements of another size")
    bits = int(header[0, 7])
    understood(bits < 32, "a fixed array with pages of more than 2**31 elements")
    start = 8 + sizes.length_size
    address = int(unsigned(header[0, start : start + sizes.offset_size]))
    return _Form(count, int(header[0, 6]), 1 << bits, _PREFIX + sizes.offset_size), address


def _check_block(block: Bytes2D, form: _Form, layout: ChunkIndexLayout) -> None:
    """VII.C, "Fixed Array Data Block": its checksum covers the page bitmap, not the pages."""
    sound(block[0, :4].tobytes() == b"FADB", "a fixed array data block without its signature")
    check(block)
    understood(block[0, 4] == 0, "a fixed array data block of another version")
    check_client(block[0, 5], layout)
    owner = int(unsigned(block[0, _PREFIX : form.before]))
    sound(owner == layout.storage.address, "a data block of another fixed array")


def _cut(pages: Bytes2D, form: _Form) -> tuple[Bytes2D, Bytes2D]:
    """All pages but the last, and the last."""
    end = (form.pages - 1) * form.page
    return pages[:end].reshape(form.pages - 1, form.page), pages[end:].reshape(1, form.last_page)


def _from_pages(
    full: Bytes2D, last: Bytes2D, present: Numbers, form: _Form, layout: ChunkIndexLayout
) -> Entries:
    """VII.C, "Fixed Array Data Block Page": elements and a checksum."""
    check(full)
    check(last)
    parts = [page[:, :-CHECKSUM_SIZE].reshape(-1, form.width) for page in (full, last)]
    elements = np.concatenate(parts)
    numbers = (present[:, None] * form.page_elements + np.arange(form.page_elements)).reshape(-1)
    return entries_of(elements, numbers[: len(elements)], layout)
