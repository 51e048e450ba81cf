"""Version 2 B-trees of chunks.

HDF5 File Format, III.A.2 "Disk Format: Level 1A2 - Version 2 B-trees", record types 10 (chunks without
filters) and 11 (with filters). Records are in internal nodes too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .array_entries import element_width, sizes_and_masks
from .checksum import CHECKSUM_SIZE, check
from .entries import Entries
from .layout import ChunkIndexLayout
from .nodes import AddressSpace, Bytes2D, Walk
from .numbers import fields_at, precedes, unsigned
from .refusal import sound, understood

_PREFIX = 6
"""Signature, version and type."""

_MAX_DEPTH = 64
_COORDINATE = 8

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Form:
    """Sizes of a tree's parts.

    Attributes
    ----------
    kind, node, record : int
        Record type; bytes of a node and of a record.
    offset_size : int
        Bytes of an address.
    most : tuple of int
        Most records of a node, by height above the leaves.
    pointers : tuple of int
        Bytes of a child pointer, by height; 0 in leaves.
    count_width : int
        Bytes of the number of records in a child pointer.
    total_width : tuple of int
        Bytes of the number of records below a child, in its pointer; by height.
    """

    kind: int
    node: int
    record: int
    offset_size: int
    most: tuple[int, ...]
    pointers: tuple[int, ...]
    count_width: int
    total_width: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Children:
    """Child nodes: addresses, and what their parents say of them.

    Attributes
    ----------
    addresses : numpy.ndarray
        uint64.
    records, totals : numpy.ndarray
        Records of each node, and those of all nodes below it with them.
    ranks : numpy.ndarray
        How many records of the tree come before those.
    """

    addresses: npt.NDArray[np.uint64]
    records: Counts
    totals: Counts
    ranks: Counts


def walk_v2_btree(layout: ChunkIndexLayout, space: AddressSpace) -> Walk[Entries]:
    """Walk a version 2 B-tree, a level at a time."""
    sizes = layout.sizes
    length = _PREFIX + 10 + sizes.offset_size + 2 + sizes.length_size + CHECKSUM_SIZE
    (header,) = yield [space.group(layout.storage.address or 0, length)]
    form, depth, children = _read_header(header, layout)
    found = [np.zeros((0, form.record), np.uint8)]
    ranks = [np.zeros(0, np.int64)]
    if int(children.addresses[0]) != sizes.undefined:
        for height in reversed(range(depth + 1)):
            (rows,) = yield [space.group(children.addresses, form.node)]
            records, places, children = _read_nodes(rows, form, height, children)
            found.append(records)
            ranks.append(places)
            if not len(children.addresses):
                break
    return _entries(np.concatenate(found), np.concatenate(ranks), layout)


def _read_header(header: Bytes2D, layout: ChunkIndexLayout) -> tuple[_Form, int, _Children]:
    """III.A.2, "Version 2 B-tree Header": sizes and the root."""
    sound(header[0, :4].tobytes() == b"BTHD", "a B-tree header without its signature")
    check(header)
    understood(header[0, 4] == 0, "a version 2 B-tree of another version")
    kind = 11 if layout.is_filtered else 10
    sound(header[0, 5] == kind, "a B-tree of other records than the dataset's chunks")
    node, record, depth = (int(unsigned(header[0, a:b])) for a, b in ((6, 10), (10, 12), (12, 14)))
    sound(node == layout.storage.node_size, "a B-tree with nodes of another size")
    expected = element_width(layout) + _COORDINATE * len(layout.storage.edges)
    sound(record == expected, "a B-tree with records of another size")
    sound(depth <= _MAX_DEPTH, "a B-tree that is too deep")
    start = _PREFIX + 10
    end = start + layout.sizes.offset_size
    root = unsigned(header[:, start:end])
    count = unsigned(header[:, end : end + 2]).astype(np.int64)
    totals = unsigned(header[:, end + 2 : end + 2 + layout.sizes.length_size]).astype(np.int64)
    form = _form_of(kind, node, record, depth, layout.sizes.offset_size)
    sound(totals[0] >= 0 and (root[0] != layout.sizes.undefined or totals[0] == 0), "a B-tree without a root")
    return form, depth, _Children(root, count, totals, np.zeros(1, np.int64))


def _form_of(kind: int, node: int, record: int, depth: int, offset_size: int) -> _Form:
    """How many records fit into a node of each height: III.A.2, "Version 2 B-tree Internal Node"."""
    room = node - _PREFIX - CHECKSUM_SIZE
    most = [room // record]
    sound(most[0] > 0, "a B-tree with nodes smaller than a record")
    count_width = _width(most[0])
    pointers, totals, below = [0], [0], most[0]
    for height in range(1, depth + 1):
        total_width = _width(below) if height > 1 else 0
        pointer = offset_size + count_width + total_width
        most.append((room - pointer) // (record + pointer))
        sound(most[-1] > 0, "a B-tree with nodes too small for a pointer")
        pointers.append(pointer)
        totals.append(total_width)
        below = (most[-1] + 1) * below + most[-1]
    return _Form(kind, node, record, offset_size, tuple(most), tuple(pointers), count_width, tuple(totals))


def _width(most: int) -> int:
    """Bytes of numbers up to this one."""
    return min(8, max(1, -(-most.bit_length() // 8)))


def _read_nodes(
    rows: Bytes2D, form: _Form, height: int, nodes: _Children
) -> tuple[Bytes2D, Counts, _Children]:
    """III.A.2, "Version 2 B-tree Internal Node" and "Leaf Node": records, their ranks, and the children."""
    start = np.frombuffer((b"BTIN" if height else b"BTLF") + bytes([0, form.kind]), np.uint8)
    sound((rows[:, :_PREFIX] == start).all(), "a B-tree node of another kind")
    most, used = form.most[height], nodes.records
    sound(((used <= most) & (used >= 0)).all(), "a B-tree node with more records than fit")
    ends = _PREFIX + used * form.record
    check(rows, ends + (used + 1) * form.pointers[height] if height else ends)
    area = rows[:, _PREFIX : _PREFIX + most * form.record].view(f"V{form.record}")
    records = np.ascontiguousarray(area[np.arange(most) < used[:, None]])
    found = records.view(np.uint8).reshape(-1, form.record)
    if not height:
        sound((used == nodes.totals).all(), "a B-tree leaf with another number of records")
        ranks = np.arange(len(found)) + np.repeat(nodes.ranks - (np.cumsum(used) - used), used)
        return found, ranks, _Children(np.zeros(0, np.uint64), used[:0], used[:0], used[:0])
    children = _read_children(rows, form, height, nodes, ends)
    is_first = np.zeros(len(children.ranks), np.bool_)
    is_first[np.cumsum(used + 1) - (used + 1)] = True
    return found, children.ranks[~is_first] - 1, children  # a record comes right before the next child's


def _read_children(rows: Bytes2D, form: _Form, height: int, nodes: _Children, starts: Counts) -> _Children:
    """Child pointers, which follow the records of a node."""
    width, most = form.pointers[height], form.most[height]
    room = min(form.node, int(starts.max()) + (most + 1) * width)
    padded = np.pad(rows[:, :room], ((0, 0), (0, (most + 1) * width)))
    area = fields_at(padded, starts, (most + 1) * width).reshape(len(rows), most + 1, width)
    pointers = area[np.arange(most + 1) <= nodes.records[:, None]]
    count_end = form.offset_size + form.count_width
    counts = unsigned(pointers[:, form.offset_size : count_end]).astype(np.int64)
    totals = unsigned(pointers[:, count_end:]).astype(np.int64) if form.total_width[height] else counts
    firsts = np.cumsum(nodes.records + 1) - (nodes.records + 1)
    below = np.add.reduceat(totals, firsts)
    sound((below + nodes.records == nodes.totals).all(), "B-tree nodes whose records do not add up")
    before = np.cumsum(totals + 1) - (totals + 1)
    ranks = before + np.repeat(nodes.ranks - before[firsts], nodes.records + 1)
    return _Children(unsigned(pointers[:, : form.offset_size]), counts, totals, ranks)


def _entries(records: Bytes2D, ranks: Counts, layout: ChunkIndexLayout) -> Entries:
    """III.A.2, "Version 2 B-tree, Type 10 Record Layout" and "Type 11": a chunk each.

    HDF5 finds a chunk by the order of the records, and does not find what is not in it.
    """
    if not (ranks[1:] > ranks[:-1]).all():
        records = records[np.argsort(ranks)]
    width = layout.sizes.offset_size
    addresses = unsigned(records[:, :width])
    start = element_width(layout)
    nbytes, masks = sizes_and_masks(records[:, width:start], layout)
    axes = len(layout.storage.edges)
    scaled = np.ascontiguousarray(records[:, start:]).view("<u8").reshape(len(records), axes)
    sound(not (scaled >> np.uint64(63)).any(), "a chunk past the largest dataset")
    sound(not (addresses == layout.sizes.undefined).any(), "a record without a chunk")
    coordinates = scaled.astype(np.int64)
    sound(precedes(coordinates[:-1], coordinates[1:]).all(), "a B-tree whose records are not in order")
    return Entries(addresses, nbytes, masks, coordinates)
