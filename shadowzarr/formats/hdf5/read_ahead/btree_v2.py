"""Version 2 B-trees of names and attributes: all records, level by level (HDF5 File Format, III.A.2).

The records are undecoded. Trees of chunks have their own reader.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....refs.byte_range import FileRange
from .fields import NotUnderstoodError, Sizes, Walk, address, bytes_for, expect, number

MAX_NODE_BYTES = 2**20
"""Bytes of a node; the library writes 512 to 2048."""

_PREFIX = 6  # signature, version, type
_CHECKSUM = 4
_MAX_DEPTH = 32

Child = tuple[int, int]
"""Address of a node, and the number of its records."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The header of a tree.

    Attributes
    ----------
    kind : int
        Type of its records.
    node_bytes, record_bytes, depth : int
        Bytes of a node and of a record; levels below the root.
    root : tuple of (int, int), optional
        The root node and its number of records; None for an empty tree.
    """

    kind: int
    node_bytes: int
    record_bytes: int
    depth: int
    root: Child | None


def read_records(place: int, base: int, sizes: Sizes) -> Walk[tuple[int, list[bytes]]]:
    """Type and records of a tree, those of one level after those of the level above."""
    (data,) = yield [FileRange(base + place, 22 + sizes.address + sizes.length)]
    tree = parse_tree(data, sizes)
    records: list[bytes] = []
    nodes = [] if tree.root is None else [tree.root]
    known = {at for at, _ in nodes}
    for level in range(tree.depth, -1, -1):
        if not nodes:
            break
        read = yield [FileRange(base + at, tree.node_bytes) for at, _ in nodes]
        below: list[Child] = []
        for (_, count), node in zip(nodes, read, strict=True):
            expect(node, b"BTIN" if level else b"BTLF")
            records += _records(node, count, tree)
            if level:
                below += _children(node, count, tree, level, sizes)
        nodes = [child for child in below if child[0] not in known]
        known.update(at for at, _ in nodes)
    return tree.kind, records


def parse_tree(data: bytes, sizes: Sizes) -> Tree:
    """The header of a version 2 B-tree."""
    expect(data, b"BTHD")
    kind, node_bytes, record_bytes = number(data, 5, 1), number(data, 6, 4), number(data, 10, 2)
    depth = number(data, 12, 2)
    if not 0 < record_bytes <= node_bytes <= MAX_NODE_BYTES or depth > _MAX_DEPTH:
        raise NotUnderstoodError("a tree of nodes that cannot be")
    root = address(data, 16, sizes)
    count = number(data, 16 + sizes.address, 2)
    return Tree(kind, node_bytes, record_bytes, depth, None if root is None else (root, count))


def _records(node: bytes, count: int, tree: Tree) -> list[bytes]:
    size = tree.record_bytes
    if _PREFIX + count * size > len(node):
        raise NotUnderstoodError(f"{count} records in a node of {len(node)} bytes")
    return [node[at : at + size] for at in range(_PREFIX, _PREFIX + count * size, size)]


def _children(node: bytes, count: int, tree: Tree, level: int, sizes: Sizes) -> list[Child]:
    """Children of an internal node: where they are, and their own numbers of records."""
    count_bytes, total_bytes = _pointer_bytes(tree, level, sizes)
    step = sizes.address + count_bytes + total_bytes
    at = _PREFIX + count * tree.record_bytes
    found = []
    for k in range(count + 1):
        child = address(node, at + k * step, sizes)
        if child is not None:
            found.append((child, number(node, at + k * step + sizes.address, count_bytes)))
    return found


def _pointer_bytes(tree: Tree, level: int, sizes: Sizes) -> tuple[int, int]:
    """Bytes of the two numbers beside an address, as the most records that a child may have need them."""
    room = tree.node_bytes - _PREFIX - _CHECKSUM
    most = room // tree.record_bytes
    count_bytes, total_bytes, total = bytes_for(most), 0, most
    for _ in range(1, level):
        pointer = sizes.address + count_bytes + total_bytes
        most = (room - pointer) // (tree.record_bytes + pointer)
        total = (most + 1) * total + most
        total_bytes = bytes_for(total)
    return count_bytes, total_bytes
