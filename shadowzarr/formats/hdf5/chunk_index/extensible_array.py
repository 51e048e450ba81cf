"""Extensible arrays of chunks.

HDF5 File Format, VII.D "The Extensible Array Index": header, index block, super blocks, data blocks and their
pages. What the index block points to is read at once, and then what the super blocks point to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .array_entries import Numbers, check_client, element_width, entries_of
from .checksum import CHECKSUM_SIZE, check
from .entries import Entries
from .extensible_geometry import PREFIX, Geometry, SuperBlock
from .layout import ChunkIndexLayout, ExtensibleArrayParameters
from .nodes import AddressSpace, Bytes2D, NodeGroup, Walk
from .numbers import unsigned
from .refusal import sound, understood

_MAX_BITS = 64

Addresses = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class _DataBlocks:
    """Data blocks of equal size.

    Attributes
    ----------
    block : SuperBlock
        What they are the blocks of.
    addresses : numpy.ndarray
        Of those that are there.
    starts : numpy.ndarray
        Number of the first element of each.
    pages : numpy.ndarray or None
        Shape (blocks, pages): which pages are there; None when there are none.
    """

    block: SuperBlock
    addresses: Addresses
    starts: Numbers
    pages: npt.NDArray[np.bool_] | None


class _Array:
    """An extensible array whose header was read, and the elements found so far.

    HDF5 looks for no element from ``end`` on, whatever is there.
    """

    def __init__(self, layout: ChunkIndexLayout, geometry: Geometry, end: int) -> None:
        self.layout, self.geometry, self._end = layout, geometry, end
        self._elements: list[Bytes2D] = [np.zeros((0, geometry.width), np.uint8)]
        self._numbers: list[Numbers] = [np.zeros(0, np.int64)]

    def entries(self) -> Entries:
        elements, numbers = np.concatenate(self._elements), np.concatenate(self._numbers)
        after = unsigned(elements[numbers >= self._end, : self.geometry.offset_size])
        sound((after == self.layout.sizes.undefined).all(), "a chunk after the last that was set")
        return entries_of(elements, numbers, self.layout)

    def add(self, elements: Bytes2D, starts: Numbers) -> None:
        """Keep elements: runs of bytes, and the number of the first element of each."""
        count = elements.shape[1] // self.geometry.width
        self._elements.append(elements.reshape(-1, self.geometry.width))
        self._numbers.append((starts[:, None] + np.arange(count)).reshape(-1))

    def check_block(self, rows: Bytes2D, signature: bytes) -> None:
        """What all blocks begin with: signature, version, client ID and the address of the header."""
        owner = (self.layout.storage.address or 0).to_bytes(self.geometry.offset_size, "little")
        start = np.frombuffer(signature + bytes([0, self.layout.is_filtered]) + owner, np.uint8)
        name = signature.decode()
        sound((rows[:, : len(start)] == start).all(), f"no {name} block of this extensible array")
        check(rows)

    def data_blocks(
        self, block: SuperBlock, addresses: Addresses, pages: npt.NDArray[np.bool_] | None = None
    ) -> _DataBlocks:
        """The data blocks that are there, among consecutive ones from the first of a super block on."""
        there = addresses != self.layout.sizes.undefined
        first = block.start + self.geometry.parameters.index_block_elements
        starts = first + np.arange(len(addresses), dtype=np.int64) * block.elements
        return _DataBlocks(block, addresses[there], starts[there], None if pages is None else pages[there])


def walk_extensible_array(layout: ChunkIndexLayout, space: AddressSpace) -> Walk[Entries]:
    """Walk an extensible array."""
    sizes = layout.sizes
    length = PREFIX + 6 + 6 * sizes.length_size + sizes.offset_size + CHECKSUM_SIZE
    (header,) = yield [space.group(layout.storage.address or 0, length)]
    array, address = _read_header(header, layout)
    if address == sizes.undefined:
        return array.entries()
    (rows,) = yield [space.group(address, _index_block_bytes(array.geometry))]
    direct, super_blocks = _read_index_block(rows, array)
    # super blocks and the data blocks of the index block in one round, then the data blocks of super blocks
    geometry = array.geometry
    groups = [space.group(at, geometry.super_block_bytes(block)) for block, at in super_blocks]
    answers = yield [*groups, *_wanted(direct, array, space)]
    indirect = [
        _read_super_block(rows, block, array) for (block, _), rows in zip(super_blocks, answers, strict=False)
    ]
    _read_data_blocks(direct, answers[len(super_blocks) :], array)
    if indirect:
        _read_data_blocks(indirect, (yield _wanted(indirect, array, space)), array)
    return array.entries()


def _read_header(header: Bytes2D, layout: ChunkIndexLayout) -> tuple[_Array, int]:
    """VII.D, "Extensible Array Header": sizes, and the address of the index block."""
    sound(header[0, :4].tobytes() == b"EAHD", "an extensible array header without its signature")
    check(header)
    understood(header[0, 4] == 0, "an extensible array of another version")
    check_client(header[0, 5], layout)
    sound(header[0, 6] == element_width(layout), "an extensible array with elements of another size")
    max_bits, index_elements, min_elements, min_pointers, page_bits = header[0, 7:12].tolist()
    parameters = ExtensibleArrayParameters(max_bits, index_elements, min_pointers, min_elements, page_bits)
    sound(parameters == layout.storage.growth, "an extensible array that grows in another way")
    understood(
        _is_power_of_two(min_elements) and _is_power_of_two(min_pointers) and max_bits <= _MAX_BITS,
        f"an extensible array with {parameters}",
    )
    geometry = Geometry(parameters, int(header[0, 6]), layout.sizes.offset_size)
    understood(
        geometry.direct <= geometry.super_blocks
        and all(not geometry.pages(geometry.super_block(number)) for number in range(geometry.direct)),
        "an extensible array with pages in the blocks of its index block",
    )
    length = layout.sizes.length_size
    end, start = 12 + 4 * length, 12 + 6 * length
    array = _Array(layout, geometry, int(unsigned(header[0, end : end + length])))
    return array, int(unsigned(header[0, start : start + layout.sizes.offset_size]))


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _direct_pointers(geometry: Geometry) -> int:
    return 2 * (geometry.parameters.min_pointers - 1)


def _index_block_bytes(geometry: Geometry) -> int:
    pointers = _direct_pointers(geometry) + geometry.super_blocks - geometry.direct
    elements = geometry.parameters.index_block_elements * geometry.width
    return PREFIX + geometry.offset_size * (1 + pointers) + elements + CHECKSUM_SIZE


def _read_index_block(rows: Bytes2D, array: _Array) -> tuple[list[_DataBlocks], list[tuple[SuperBlock, int]]]:
    """VII.D, "Extensible Array Index Block": elements, addresses of data blocks and of super blocks."""
    geometry = array.geometry
    array.check_block(rows, b"EAIB")
    start = PREFIX + geometry.offset_size
    end = start + geometry.parameters.index_block_elements * geometry.width
    array.add(rows[:, start:end], np.zeros(1, np.int64))
    addresses = unsigned(rows[0, end:-CHECKSUM_SIZE].reshape(-1, geometry.offset_size))
    direct = []
    first = 0
    for number in range(geometry.direct):
        block = geometry.super_block(number)
        blocks = array.data_blocks(block, addresses[first : first + block.blocks])
        first += block.blocks
        if len(blocks.addresses):
            direct.append(blocks)
    super_blocks = [
        (geometry.super_block(geometry.direct + number), address)
        for number, address in enumerate(addresses[_direct_pointers(geometry) :].tolist())
        if address != array.layout.sizes.undefined
    ]
    return direct, super_blocks


def _read_super_block(rows: Bytes2D, block: SuperBlock, array: _Array) -> _DataBlocks:
    """VII.D, "Extensible Array Secondary Block": page bitmaps and addresses of data blocks."""
    geometry = array.geometry
    array.check_block(rows, b"EASB")
    start = geometry.before
    end = start + geometry.bitmaps(block)
    addresses = unsigned(rows[0, end:-CHECKSUM_SIZE].reshape(-1, geometry.offset_size))
    pages = geometry.pages(block)
    if not pages:
        return array.data_blocks(block, addresses)
    # the bits of all data blocks follow each other without gaps, although each has whole bytes of room
    bits = np.unpackbits(rows[0, start:end], count=block.blocks * pages)
    return array.data_blocks(block, addresses, bits.reshape(block.blocks, pages).astype(np.bool_))


def _wanted(blocks: list[_DataBlocks], array: _Array, space: AddressSpace) -> list[NodeGroup]:
    """A group for each, and one of the pages of all of them."""
    geometry = array.geometry
    pages = [np.zeros(0, np.uint64)]
    for item in blocks:
        if item.pages is not None:
            row, page = np.nonzero(item.pages)
            first = item.addresses[row] + np.uint64(geometry.data_block_bytes(item.block))
            pages.append(first + page.astype(np.uint64) * np.uint64(geometry.page))
    groups = [space.group(item.addresses, geometry.data_block_bytes(item.block)) for item in blocks]
    return [*groups, space.group(np.concatenate(pages), geometry.page)]


def _read_data_blocks(blocks: list[_DataBlocks], answers: list[Bytes2D], array: _Array) -> None:
    """VII.D, "Extensible Array Data Block" and "Data Block Page": elements."""
    geometry = array.geometry
    starts = [np.zeros(0, np.int64)]
    for item, rows in zip(blocks, answers[:-1], strict=True):
        array.check_block(rows, b"EADB")
        if item.pages is None:
            array.add(rows[:, geometry.before : -CHECKSUM_SIZE], item.starts)
        else:
            row, page = np.nonzero(item.pages)
            starts.append(item.starts[row] + page * geometry.page_elements)
    check(answers[-1])
    array.add(answers[-1][:, :-CHECKSUM_SIZE], np.concatenate(starts))
