"""HDF5 File Format, III.G: fractal heaps, their blocks and the objects in them."""

import struct

import pytest

from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError
from shadowzarr.formats.hdf5.read_ahead.fractal_heap import parse_heap, read_heap, read_object

from .nodes import NOWHERE, SIZES, Placed, drive
from .test_btree_v2 import header as tree_header

HEADER = 146
PREFIX = 5 + 8 + 4 + 4  # of a direct block: signature, version, heap, offset in 4 bytes, checksum


def heap(root, rows, *, id_bytes=7, width=4, start=512, largest=2048, huge=NOWHERE, filters=0):
    return (
        struct.pack("<4sBHHBI", b"FRHP", 0, id_bytes, filters, 2, 4096)
        + struct.pack("<QQQQ", 0, huge, 0, NOWHERE)  # next huge object, their tree, free space, its manager
        + struct.pack("<QQQQQQQQ", 0, 0, 0, 0, 0, 0, 0, 0)
        + struct.pack("<HQQHHQH", width, start, largest, 32, 1, root, rows)
        + b"SUM!"
    )


def direct(offset, content):
    return b"FHDB\0" + struct.pack("<QI", 1000, offset) + b"SUM!" + content


def indirect(offset, *children):
    return (
        b"FHIB\0" + struct.pack("<QI", 1000, offset) + struct.pack(f"<{len(children)}Q", *children) + b"SUM!"
    )


def managed(offset, length, *, id_bytes=7):
    """Offset in 4 bytes (32 bits), length in 2 (up to 2048)."""
    return (b"\0" + struct.pack("<IH", offset, length)).ljust(id_bytes, b"\0")


def read(file):
    return drive(read_heap(1000, 0, SIZES), bytes(file))


def test_the_header():
    found = parse_heap(heap(5000, 3), SIZES)
    assert (found.width, found.start_bytes, found.max_direct_bytes) == (4, 512, 2048)
    assert (found.root, found.rows, found.huge_tree) == (5000, 3, None)
    assert (found.id_bytes, found.offset_bytes, found.length_bytes) == (7, 4, 2)
    assert found.direct_rows == 4  # 512, 512, 1024, 2048
    assert [found.block_bytes(row) for row in range(6)] == [512, 512, 1024, 2048, 4096, 8192]
    assert [found.row_start(row) for row in range(5)] == [0, 2048, 4096, 8192, 16384]
    assert len(heap(5000, 3)) == HEADER


def test_one_direct_block():
    found, rounds = read(Placed().put(1000, heap(5000, 0)).put(5000, direct(0, b"onetwothree")))
    assert rounds == [[(1000, HEADER)], [(5000, 512)]]
    assert found.object(managed(PREFIX + 3, 3)) == b"two"


def test_an_empty_heap():
    assert read(Placed().put(1000, heap(NOWHERE, 0)))[1] == [[(1000, HEADER)]]


def test_blocks_below_an_indirect_one():
    children = [5000, 6000, NOWHERE, NOWHERE, *[NOWHERE] * 4, 7000, *[NOWHERE] * 3]
    file = Placed().put(1000, heap(3000, 3)).put(3000, indirect(0, *children))
    file.put(5000, direct(0, b"first")).put(6000, direct(512, b"second")).put(7000, direct(4096, b"third"))
    found, rounds = read(file)
    assert rounds == [
        [(1000, HEADER)],
        [(3000, 5 + 8 + 4 + 3 * 4 * 8 + 4)],
        [(5000, 512), (6000, 512), (7000, 1024)],
    ]
    assert found.object(managed(512 + PREFIX, 6)) == b"second"
    assert found.object(managed(4096 + PREFIX, 5)) == b"third"


def test_indirect_blocks_below_indirect_ones():
    rows = [NOWHERE] * 16 + [
        4000,
        NOWHERE,
        NOWHERE,
        NOWHERE,
    ]  # four rows of direct blocks
    file = Placed().put(1000, heap(3000, 5)).put(3000, indirect(0, *rows))
    below = [NOWHERE] * 7 + [5000]  # 4096 bytes: two rows of blocks of 512
    file.put(4000, indirect(16384, *below)).put(5000, direct(16384 + 7 * 512, b"deep"))
    found, rounds = read(file)
    assert rounds[2:] == [[(4000, 5 + 8 + 4 + 2 * 4 * 8 + 4)], [(5000, 512)]]
    assert found.object(managed(16384 + 7 * 512 + PREFIX, 4)) == b"deep"


def test_a_block_that_leads_back_ends():
    rows = [NOWHERE] * 16 + [3000] * 4
    assert len(read(Placed().put(1000, heap(3000, 5)).put(3000, indirect(0, *rows)))[1]) == 2


def test_tiny_objects_are_in_their_id():
    found = parse_heap(heap(NOWHERE, 0), SIZES)
    assert found.object(bytes([0x22]) + b"abc...") == b"abc"
    longer = parse_heap(heap(NOWHERE, 0, id_bytes=30), SIZES)
    assert longer.object(bytes([0x20, 17]) + b"abcdefghijklmnopqr" + bytes(10)) == b"abcdefghijklmnopqr"


def test_huge_objects_by_number():
    record = struct.pack("<QQQ", 9000, 70, 5)
    file = Placed().put(1000, heap(NOWHERE, 0, huge=2000)).put(9000, b"h" * 70)
    file.put(2000, tree_header(0, 3000, 1, 1, record=24)).put(3000, b"BTLF\0\1" + record)
    found, _ = read(file)
    data, rounds = drive(read_object(found, b"\x10\5\0\0\0\0\0", 0), bytes(file))
    assert data == b"h" * 70
    assert rounds == [[(9000, 70)]]
    with pytest.raises(NotUnderstoodError):
        found.object(b"\x10\6\0\0\0\0\0")


def test_huge_objects_by_address():
    found = parse_heap(heap(NOWHERE, 0, id_bytes=17), SIZES)
    assert found.object(b"\x10" + struct.pack("<QQ", 9000, 70)) == (9000, 70)


@pytest.mark.parametrize("heap_id", [managed(5000, 3), managed(510, 3), b"\x30" + bytes(6), b"\0"])
def test_objects_that_are_nowhere(heap_id):
    found, _ = read(Placed().put(1000, heap(5000, 0)).put(5000, direct(0, b"one")))
    with pytest.raises(NotUnderstoodError):
        found.object(heap_id)


@pytest.mark.parametrize(
    "node",
    [
        b"",
        heap(5000, 0, filters=8),
        heap(5000, 0, start=0),
        heap(5000, 0, start=4096),
        heap(5000, 0, width=0),
        heap(5000, 65),
        heap(5000, 0, largest=2**40),
        heap(6000, 0),
    ],
)
def test_what_is_none(node):
    with pytest.raises(NotUnderstoodError):
        read(Placed().put(1000, node).put(5000, direct(0, b"one")))
