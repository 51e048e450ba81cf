"""HDF5 File Format, III.A.2: version 2 B-trees of names."""

import struct

import pytest

from shadowzarr.formats.hdf5.read_ahead.btree_v2 import read_records
from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError

from .nodes import NOWHERE, SIZES, Placed, drive

NODE = 512
HEADER = 38  # signature to checksum, with addresses and lengths of 8 bytes


def header(depth, root, count, total, *, node=NODE, record=11):
    start = struct.pack("<4sBBIHHBB", b"BTHD", 0, 5, node, record, depth, 100, 40)
    return start + struct.pack("<QHQ", root, count, total) + b"SUM!"


def records(*numbers):
    return b"".join(struct.pack("<I7s", number, b"id%05d" % number) for number in numbers)


def leaf(*numbers):
    return b"BTLF" + bytes([0, 5]) + records(*numbers) + b"SUM!"


def inner(numbers, children, *, total_bytes=0):
    """Children are an address, their records (one byte: 45 fit), and from level 2 on all below them."""
    pointers = b"".join(
        struct.pack("<QB", at, count) + (total.to_bytes(total_bytes, "little") if total_bytes else b"")
        for at, count, total in children
    )
    return b"BTIN" + bytes([0, 5]) + records(*numbers) + pointers + b"SUM!"


def read(file):
    (kind, found), rounds = drive(read_records(1000, 0, SIZES), bytes(file))
    assert kind == 5
    return sorted(int.from_bytes(each[:4], "little") for each in found), rounds


def test_a_leaf():
    file = Placed().put(1000, header(0, 2000, 3, 3)).put(2000, leaf(1, 2, 3))
    assert read(file) == ([1, 2, 3], [[(1000, HEADER)], [(2000, NODE)]])


def test_an_empty_tree():
    assert read(Placed().put(1000, header(0, NOWHERE, 0, 0))) == ([], [[(1000, HEADER)]])


def test_two_levels():
    file = Placed().put(1000, header(1, 2000, 1, 4))
    file.put(2000, inner([2], [(3000, 1, 1), (4000, 2, 2)])).put(3000, leaf(1)).put(4000, leaf(3, 4))
    found, rounds = read(file)
    assert found == [1, 2, 3, 4]
    assert rounds[1:] == [[(2000, NODE)], [(3000, NODE), (4000, NODE)]]


def test_three_levels_have_wider_pointers():
    # 45 records fit into a leaf and 24 into a node above: up to 1149 below it, which takes two bytes
    file = Placed().put(1000, header(2, 2000, 1, 5))
    file.put(2000, inner([3], [(3000, 1, 2), (4000, 0, 2)], total_bytes=2))
    file.put(3000, inner([1], [(5000, 0, 0), (6000, 1, 1)])).put(4000, inner([], [(7000, 2, 2)]))
    file.put(5000, leaf()).put(6000, leaf(2)).put(7000, leaf(4, 5))
    found, rounds = read(file)
    assert found == [1, 2, 3, 4, 5]
    assert rounds[3] == [(5000, NODE), (6000, NODE), (7000, NODE)]


def test_a_tree_that_leads_back_ends():
    file = Placed().put(1000, header(2, 2000, 0, 0)).put(2000, inner([], [(2000, 0, 0)], total_bytes=2))
    assert len(read(file)[1]) == 2


@pytest.mark.parametrize(
    "node",
    [
        b"",
        b"BTXX" + bytes(40),
        header(0, 2000, 1, 1, node=2**30),
        header(0, 2000, 1, 1, record=0),
        header(60, 2000, 1, 1),
        header(0, 2000, 200, 200),
        header(1, 2000, 0, 0),
    ],
)
def test_what_is_none(node):
    with pytest.raises(NotUnderstoodError):
        drive(read_records(1000, 0, SIZES), bytes(Placed().put(1000, node).put(2000, leaf(1))))
