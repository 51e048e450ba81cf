"""HDF5 File Format, III.A.1, III.B, III.C, III.D: groups by B-tree, symbol table nodes, and a local heap."""

import struct
from dataclasses import replace

import pytest

from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError
from shadowzarr.formats.hdf5.read_ahead.groups import read_local_heap, read_members
from shadowzarr.formats.hdf5.read_ahead.superblock import Superblock

from .nodes import NOWHERE, SIZES, Placed, drive

SUPERBLOCK = Superblock(base=0, sizes=SIZES, root=96)
NODE, TABLE = 544, 328  # bytes with K 16 and 4


def tree(level, *children, kind=0):
    """Keys (offsets of names) and children take turns."""
    body = b"".join(struct.pack("<QQ", 8 * k, child) for k, child in enumerate(children)) + struct.pack(
        "<Q", 99
    )
    return struct.pack("<4sBBHQQ", b"TREE", kind, level, len(children), NOWHERE, NOWHERE) + body


def table(*entries):
    """Name offset, header, cache type, 4 bytes reserved, 16 of scratch."""
    body = b"".join(
        struct.pack("<QQIIQQ", 8, header, cache, 0, *scratch) for header, cache, scratch in entries
    )
    return struct.pack("<4sBxH", b"SNOD", 1, len(entries)) + body


def test_one_level():
    file = Placed().put(1000, tree(0, 2000, 3000))
    file.put(2000, table((5000, 0, (0, 0)), (6000, 1, (7000, 8000)))).put(3000, table((9000, 0, (0, 0))))
    found, rounds = drive(read_members(1000, SUPERBLOCK), bytes(file))
    assert found == [(5000, None), (6000, (7000, 8000)), (9000, None)]
    assert rounds == [[(1000, NODE)], [(2000, TABLE), (3000, TABLE)]]


def test_two_levels_take_a_round_more():
    file = Placed().put(1000, tree(1, 2000, 3000)).put(2000, tree(0, 4000)).put(3000, tree(0, 5000))
    file.put(4000, table((100, 0, (0, 0)))).put(5000, table((200, 0, (0, 0))))
    found, rounds = drive(read_members(1000, SUPERBLOCK), bytes(file))
    assert found == [(100, None), (200, None)]
    assert rounds == [[(1000, NODE)], [(2000, NODE), (3000, NODE)], [(4000, TABLE), (5000, TABLE)]]


def test_sizes_of_nodes_are_those_of_the_superblock():
    file = Placed().put(1512, tree(0, 2000)).put(2512, table())
    other = replace(SUPERBLOCK, base=512, group_internal=2, group_leaf=1)
    _, rounds = drive(read_members(1000, other), bytes(file))
    assert rounds == [[(1512, 24 + 5 * 8 + 4 * 8)], [(2512, 8 + 2 * 40)]]


def test_soft_links_lead_nowhere():
    file = Placed().put(1000, tree(0, 2000)).put(2000, table((NOWHERE, 2, (40, 0)), (5000, 0, (0, 0))))
    assert drive(read_members(1000, SUPERBLOCK), bytes(file))[0] == [(5000, None)]


def test_a_tree_that_leads_back_ends():
    file = Placed().put(1000, tree(1, 1000, 2000)).put(2000, tree(1, 1000))
    assert drive(read_members(1000, SUPERBLOCK), bytes(file)) == ([], [[(1000, NODE)], [(2000, NODE)]])


def test_a_local_heap():
    heap = struct.pack("<4sB3xQQQ", b"HEAP", 0, 88, 1, 4000)
    _, rounds = drive(read_local_heap(1000, SUPERBLOCK), bytes(Placed().put(1000, heap)))
    assert rounds == [[(1000, 512)], [(4000, 88)]]


@pytest.mark.parametrize("node", [b"", b"TREX", tree(0, 2000, kind=1), tree(0, 2000)[:30], tree(0, 40_000)])
def test_what_is_none(node):
    with pytest.raises(NotUnderstoodError):
        drive(read_members(1000, SUPERBLOCK), bytes(Placed().put(1000, node)))


@pytest.mark.parametrize(("length", "segment"), [(2**40, 4000), (88, NOWHERE)])
def test_heaps_that_are_not_read(length, segment):
    heap = struct.pack("<4sB3xQQQ", b"HEAP", 0, length, 1, segment)
    with pytest.raises(NotUnderstoodError):
        drive(read_local_heap(0, SUPERBLOCK), heap)
