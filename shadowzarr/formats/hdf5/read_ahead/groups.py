"""Groups of the first kind: B-trees, symbol table nodes and local heaps (HDF5 File Format, III.A.1, III.B-D).

Names stay in the heap: HDF5 will read them, and the walk needs addresses alone.
"""

from __future__ import annotations

from ....refs.byte_range import FileRange
from .fields import NearRange, NotUnderstoodError, Walk, address, expect, number
from .superblock import Superblock

HEAP_FIRST_READ = 512
"""Bytes that HDF5 itself reads of a local heap before it knows how long that is."""

MAX_HEAP_BYTES = 64 * 2**20
"""Bytes of the names of one group; more are left to HDF5."""

_SYMBOL_TABLE = 1
_MAX_LEVELS = 64

Member = tuple[int, tuple[int, int] | None]
"""Address of an object's header; of a group, those of its B-tree and heap when they are cached."""


def read_local_heap(place: int, superblock: Superblock) -> Walk[None]:
    """A local heap and its data."""
    sizes, base = superblock.sizes, superblock.base
    (data,) = yield [NearRange(base + place, HEAP_FIRST_READ)]
    expect(data, b"HEAP")
    length, segment = number(data, 8, sizes.length), address(data, 8 + 2 * sizes.length, sizes)
    if segment is None or length > MAX_HEAP_BYTES:
        raise NotUnderstoodError("a local heap without data, or with too many")
    yield [FileRange(base + segment, length)]


def read_members(place: int, superblock: Superblock) -> Walk[list[Member]]:
    """The members of a group, from the root of its B-tree on, one level after the other."""
    base = superblock.base
    nodes, known = [place], {place}
    for _ in range(_MAX_LEVELS):
        read = yield [NearRange(base + node, _node_bytes(superblock)) for node in nodes]
        levels = {number(data, 5, 1) for data in read}
        nodes = [child for data in read for child in _children(data, superblock) if child not in known]
        known.update(nodes)
        if levels == {0} or not nodes:
            break
    if not nodes:
        return []
    tables = yield [NearRange(base + node, _table_bytes(superblock)) for node in nodes]
    return [member for data in tables for member in _members(data, superblock)]


def _node_bytes(superblock: Superblock) -> int:
    sizes, half = superblock.sizes, superblock.group_internal
    return 8 + 2 * sizes.address + (2 * half + 1) * sizes.length + 2 * half * sizes.address


def _table_bytes(superblock: Superblock) -> int:
    return 8 + 2 * superblock.group_leaf * (2 * superblock.sizes.address + 24)


def _children(data: bytes, superblock: Superblock) -> list[int]:
    """Children of a B-tree node, each between two keys."""
    expect(data, b"TREE")
    if number(data, 4, 1) != 0:
        raise NotUnderstoodError("no node of a group")
    sizes = superblock.sizes
    step, first = sizes.length + sizes.address, 8 + 2 * sizes.address + sizes.length
    count = min(number(data, 6, 2), 2 * superblock.group_internal)
    found = (address(data, first + k * step, sizes) for k in range(count))
    return [child for child in found if child is not None]


def _members(data: bytes, superblock: Superblock) -> list[Member]:
    expect(data, b"SNOD")
    sizes = superblock.sizes
    step = 2 * sizes.address + 24
    found: list[Member] = []
    for k in range(min(number(data, 6, 2), 2 * superblock.group_leaf)):
        at = 8 + k * step + sizes.address
        header = address(data, at, sizes)
        if header is None:
            continue  # a soft link
        table = None
        if number(data, at + sizes.address, 4) == _SYMBOL_TABLE:
            scratch = at + sizes.address + 8
            tree, heap = (address(data, scratch + n * sizes.address, sizes) for n in (0, 1))
            table = (tree, heap) if tree is not None and heap is not None else None
        found.append((header, table))
    return found
