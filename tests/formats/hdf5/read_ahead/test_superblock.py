"""HDF5 File Format, II.A: superblocks of every version."""

import struct

import pytest

from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError, Sizes
from shadowzarr.formats.hdf5.read_ahead.superblock import (
    SIGNATURE,
    Superblock,
    parse_superblock,
    places,
    with_node_sizes,
)

from .nodes import NOWHERE


def early(version=0, cache=(0, 0, 0), driver=NOWHERE):
    """Version 0 or 1: leaf K 4, internal K 16, and of version 1 K 32 of chunk indexes and 2 bytes more."""
    head = SIGNATURE + bytes([version, 0, 0, 0, 0, 8, 8, 0]) + struct.pack("<HHI", 4, 16, 0)
    head += struct.pack("<HH", 40, 0) if version else b""
    addresses = struct.pack("<QQQQ", 0, NOWHERE, 10_000, driver)
    kind, tree, heap = cache
    return head + addresses + struct.pack("<QQIIQQ", 0, 96, kind, 0, tree, heap)


def test_version_0():
    assert parse_superblock(early(), 0) == Superblock(
        base=0, sizes=Sizes(8, 8), root=96, group_internal=16, group_leaf=4, chunk_internal=32
    )


def test_the_root_group_may_be_cached():
    assert parse_superblock(early(cache=(1, 136, 680)), 0).table == (136, 680)
    assert parse_superblock(early(cache=(1, NOWHERE, 680)), 0).table is None


def test_version_1_has_another_number_more():
    found = parse_superblock(early(1, driver=500), 512)
    assert (found.chunk_internal, found.root, found.driver, found.base) == (40, 96, 500, 512)


@pytest.mark.parametrize("version", [2, 3])
def test_versions_2_and_3(version):
    data = SIGNATURE + bytes([version, 8, 8, 0]) + struct.pack("<QQQQI", 0, NOWHERE, 10_000, 48, 0)
    assert parse_superblock(data, 0) == Superblock(base=0, sizes=Sizes(8, 8), root=48)
    data = SIGNATURE + bytes([version, 4, 2, 0]) + struct.pack("<IIII", 0, 700, 10_000, 48)
    assert parse_superblock(data, 0) == Superblock(base=0, sizes=Sizes(4, 2), root=48, extension=700)


def test_what_is_none():
    for data in (b"", b"\x89HDF", SIGNATURE, SIGNATURE + bytes([4]) + bytes(100), early()[:60]):
        with pytest.raises(NotUnderstoodError):
            parse_superblock(data, 0)


def test_where_it_may_be():
    assert places(7) == []
    assert places(600) == [0, 512]
    assert places(5000) == [0, 512, 1024, 2048, 4096]


def test_the_extension_may_give_other_sizes_of_nodes():
    body = struct.pack("<BHHH", 0, 21, 22, 23)
    found = with_node_sizes(parse_superblock(early(), 0), body)
    assert (found.chunk_internal, found.group_internal, found.group_leaf) == (21, 22, 23)
