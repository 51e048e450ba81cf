"""Fractal heaps: all their blocks, and the objects in them (HDF5 File Format, III.G).

Heaps with filters are left to HDF5.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from ....refs.byte_range import FileRange
from .btree_v2 import read_records
from .fields import NotUnderstoodError, Sizes, Walk, address, bytes_for, expect, number

MAX_BLOCK_BYTES = 64 * 2**20
"""Bytes of a block, or of an object outside the blocks; larger ones are left to HDF5."""

_MAX_ROWS = 64
_CHECKSUM = 4
_MANAGED, _HUGE, _TINY = 0, 1, 2


@dataclass(slots=True)
class FractalHeap:
    """A heap in memory.

    Attributes
    ----------
    id_bytes : int
        Bytes of an object's ID.
    offset_bytes, length_bytes : int
        Bytes of a managed object's offset and length in its ID.
    width, start_bytes, max_direct_bytes : int
        Columns of the doubling table, bytes of its first blocks, bytes of the largest direct block.
    root : int, optional
        Address of the root block; None for an empty heap.
    rows : int
        Rows of the root block when it is an indirect one; 0 when it is a direct one.
    huge_tree : int, optional
        Address of the B-tree of huge objects.
    sizes : Sizes
        Of addresses and lengths.
    blocks : dict of int to bytes
        Direct blocks, by where they begin in the heap's own space.
    huge : dict of int to tuple of int
        Address and length of huge objects, by the number in their ID.
    """

    id_bytes: int
    offset_bytes: int
    length_bytes: int
    width: int
    start_bytes: int
    max_direct_bytes: int
    root: int | None
    rows: int
    huge_tree: int | None
    sizes: Sizes
    blocks: dict[int, bytes] = field(default_factory=dict)
    huge: dict[int, tuple[int, int]] = field(default_factory=dict)
    _starts: list[int] = field(default_factory=list)

    def block_bytes(self, row: int) -> int:
        """Bytes of the blocks of a row of the doubling table."""
        return self.start_bytes << max(0, row - 1)

    def row_start(self, row: int) -> int:
        """Where a row begins in the space of the table."""
        return 0 if row == 0 else self.width * self.block_bytes(row)

    @property
    def direct_rows(self) -> int:
        """Rows of direct blocks in the largest table."""
        return (self.max_direct_bytes // self.start_bytes).bit_length() + 1

    def object(self, heap_id: bytes) -> bytes | tuple[int, int]:
        """An object of the heap, or address and length of a huge one.

        Raises
        ------
        NotUnderstoodError
            When the ID leads nowhere.
        """
        kind = heap_id[0] >> 4 & 3
        if kind == _MANAGED:
            return self._managed(heap_id)
        if kind == _HUGE:
            return self._huge(heap_id)
        if kind != _TINY:
            raise NotUnderstoodError("an object of unknown kind")
        is_long = self.id_bytes - 1 > 16
        length = (number(heap_id, 0, 1) & 15) + 1
        if is_long:
            length = ((heap_id[0] & 15) << 8 | number(heap_id, 1, 1)) + 1
        return heap_id[1 + is_long : 1 + is_long + length]

    def _managed(self, heap_id: bytes) -> bytes:
        offset = number(heap_id, 1, self.offset_bytes)
        length = number(heap_id, 1 + self.offset_bytes, self.length_bytes)
        if len(self._starts) != len(self.blocks):
            self._starts = sorted(self.blocks)
        place = bisect_right(self._starts, offset) - 1
        if place < 0:
            raise NotUnderstoodError("an object outside the heap")
        start = self._starts[place]
        data = self.blocks[start][offset - start : offset - start + length]
        if len(data) < length:
            raise NotUnderstoodError("an object outside its block")
        return data

    def _huge(self, heap_id: bytes) -> tuple[int, int]:
        both = self.sizes.address + self.sizes.length
        if self.id_bytes - 1 >= both:
            place = address(heap_id, 1, self.sizes)
            length = number(heap_id, 1 + self.sizes.address, self.sizes.length)
        else:
            key = int.from_bytes(heap_id[1:], "little")
            place, length = self.huge.get(key, (None, 0))
        if place is None or length > MAX_BLOCK_BYTES:
            raise NotUnderstoodError("a huge object that is nowhere, or too large")
        return place, length


def read_heap(place: int, base: int, sizes: Sizes) -> Walk[FractalHeap]:
    """A heap with all its direct blocks."""
    (data,) = yield [FileRange(base + place, _header_bytes(sizes))]
    heap = parse_heap(data, sizes)
    if heap.root is not None:
        if heap.rows:
            yield from _read_table(heap, base)
        else:
            heap.blocks[0] = yield from _read_direct(heap.root, heap.start_bytes, base)
    if heap.huge_tree is not None:
        _, records = yield from read_records(heap.huge_tree, base, sizes)
        heap.huge = _huge_objects(records, sizes)
    return heap


def read_object(heap: FractalHeap, heap_id: bytes, base: int) -> Walk[bytes]:
    """An object of a heap, wherever it is kept."""
    found = heap.object(heap_id)
    if isinstance(found, bytes):
        return found
    (data,) = yield [FileRange(base + found[0], found[1])]
    return data


def parse_heap(data: bytes, sizes: Sizes) -> FractalHeap:
    """The header of a fractal heap."""
    expect(data, b"FRHP")
    if number(data, 7, 2):
        raise NotUnderstoodError("a heap with filters")
    max_managed = number(data, 10, 4)
    at = 14 + sizes.length  # after the next huge object's ID
    huge_tree = address(data, at, sizes)
    at += 2 * sizes.address + 9 * sizes.length  # after what is said of space and numbers of objects
    width = number(data, at, 2)
    start, largest = number(data, at + 2, sizes.length), number(data, at + 2 + sizes.length, sizes.length)
    at += 2 + 2 * sizes.length
    bits = number(data, at, 2)
    root, rows = address(data, at + 4, sizes), number(data, at + 4 + sizes.address, 2)
    if not 0 < start <= largest <= MAX_BLOCK_BYTES or not 0 < width <= 1024 or rows > _MAX_ROWS:
        raise NotUnderstoodError("a heap of blocks that cannot be")
    length_bytes = min(-(-(largest.bit_length() - 1) // 8), bytes_for(max_managed))
    return FractalHeap(
        id_bytes=number(data, 5, 2),
        offset_bytes=-(-bits // 8),
        length_bytes=length_bytes,
        width=width,
        start_bytes=start,
        max_direct_bytes=largest,
        root=root,
        rows=rows,
        huge_tree=huge_tree,
        sizes=sizes,
    )


def _header_bytes(sizes: Sizes) -> int:
    return 22 + 12 * sizes.length + 3 * sizes.address + _CHECKSUM


def _huge_objects(records: list[bytes], sizes: Sizes) -> dict[int, tuple[int, int]]:
    """Huge objects without filters whose IDs hold a number (record type 1)."""
    if any(len(record) < sizes.address + 2 * sizes.length for record in records):
        return {}  # records of type 3: the IDs themselves say where the objects are
    found = {}
    for record in records:
        place, length = address(record, 0, sizes), number(record, sizes.address, sizes.length)
        if place is not None:
            found[number(record, sizes.address + sizes.length, sizes.length)] = (place, length)
    return found


@dataclass(frozen=True, slots=True)
class _Table:
    """An indirect block: where it is, its rows, and where it begins in the heap's space."""

    place: int
    rows: int
    start: int


@dataclass(frozen=True, slots=True)
class _Direct:
    """A direct block: where it is, its bytes, and where it begins in the heap's space."""

    place: int
    length: int
    start: int


def _read_table(heap: FractalHeap, base: int) -> Walk[None]:
    """All blocks below an indirect root block; those of one level in one batch."""
    assert heap.root is not None  # noqa: S101 - the caller looked
    tables, direct = [_Table(heap.root, heap.rows, 0)], list[_Direct]()
    known = {heap.root}
    while tables or direct:
        wanted = [FileRange(base + table.place, _table_bytes(heap, table.rows)) for table in tables]
        wanted += [FileRange(base + block.place, block.length) for block in direct]
        read = yield wanted
        for block, data in zip(direct, read[len(tables) :], strict=True):
            expect(data, b"FHDB")
            heap.blocks[block.start] = data
        children = [
            child
            for table, data in zip(tables, read, strict=False)
            for child in _children(heap, table, data)
            if child.place not in known
        ]
        known.update(child.place for child in children)
        tables = [child for child in children if isinstance(child, _Table)]
        direct = [child for child in children if isinstance(child, _Direct)]


def _read_direct(place: int, length: int, base: int) -> Walk[bytes]:
    (data,) = yield [FileRange(base + place, length)]
    expect(data, b"FHDB")
    return data


def _table_bytes(heap: FractalHeap, rows: int) -> int:
    return 5 + heap.sizes.address * (1 + rows * heap.width) + heap.offset_bytes + _CHECKSUM


def _children(heap: FractalHeap, table: _Table, data: bytes) -> list[_Table | _Direct]:
    """Blocks that an indirect block leads to, row by row."""
    expect(data, b"FHIB")
    at = 5 + heap.sizes.address + heap.offset_bytes
    found: list[_Table | _Direct] = []
    for row in range(table.rows):
        size = heap.block_bytes(row)
        is_direct = row < heap.direct_rows
        rows = (size // (heap.start_bytes * heap.width)).bit_length()
        for column in range(heap.width):
            place = address(data, at, heap.sizes)
            at += heap.sizes.address
            if place is None:
                continue
            start = table.start + heap.row_start(row) + column * size
            found.append(_Direct(place, size, start) if is_direct else _Table(place, rows, start))
    return found
