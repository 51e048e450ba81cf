"""HDF5 File Format, IV.A.2: messages that lead on to other nodes."""

import struct

import pytest

from shadowzarr.formats.hdf5.read_ahead import messages as m
from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError

from .nodes import NOWHERE, SIZES


def quads(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def test_symbol_tables():
    assert m.parse_symbol_table(quads(136, 680), SIZES) == (136, 680)
    assert m.parse_symbol_table(quads(NOWHERE, NOWHERE), SIZES) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"\0\0" + quads(NOWHERE, NOWHERE), None),
        (b"\0\0" + quads(100, 200), m.Dense(100, (200,))),
        (b"\0\1" + quads(9, 100, 200), m.Dense(100, (200,))),
        (b"\0\3" + quads(9, 100, 200, 300), m.Dense(100, (200, 300))),
        (b"\0\2" + quads(100, 200, NOWHERE), m.Dense(100, (200,))),
    ],
)
def test_link_info(body, expected):
    assert m.parse_link_info(body, SIZES) == expected


def test_attribute_info():
    assert m.parse_attribute_info(b"\0\3\7\0" + quads(100, 200, 300), SIZES) == m.Dense(100, (200, 300))
    assert m.parse_attribute_info(b"\0\0" + quads(NOWHERE, NOWHERE), SIZES) is None


@pytest.mark.parametrize(
    ("body", "target"),
    [
        (b"\1\0\3abc" + quads(500), 500),
        (b"\1\x10\1\3abc" + quads(500), 500),  # character set
        (b"\1\x04" + quads(7) + b"\3abc" + quads(500), 500),  # creation order
        (b"\1\x1d\0" + quads(7) + b"\1\3\0abc" + quads(500), 500),  # all, and a length of two bytes
        (b"\1\x08\1\3abc\5\0there", None),  # soft
        (b"\1\x08\x40\3abc\3\0\0f\0/", None),  # external
    ],
)
def test_links(body, target):
    assert m.parse_link(body, SIZES) == target


def test_shared_messages():
    assert m.parse_shared(b"\1\0" + bytes(6) + quads(500), SIZES) == m.Shared(500)
    assert m.parse_shared(b"\2\0" + quads(500), SIZES) == m.Shared(500)
    assert m.parse_shared(b"\3\2" + quads(500), SIZES) == m.Shared(500)
    assert m.parse_shared(b"\3\1" + b"heap id!" + b"more", SIZES) == m.Shared(None, b"heap id!")


def test_attributes():
    name, datatype, dataspace, value = b"name\0", b"a datatype", b"a dataspace..", b"the value"

    def padded(part):
        return part.ljust(-(-len(part) // 8) * 8, b"\0")

    sizes = struct.pack("<HHH", len(name), len(datatype), len(dataspace))
    early = b"\1\xff" + sizes + padded(name) + padded(datatype) + padded(dataspace) + value
    late = {
        2: b"\2\0" + sizes + name + datatype + dataspace + value,
        3: b"\3\0" + sizes + b"\1" + name + datatype + dataspace + value,
    }
    expected = m.Attribute(m.Part(datatype, False), m.Part(dataspace, False), value)
    for body in (early, *late.values()):
        assert m.parse_attribute(body) == expected
    shared = m.parse_attribute(late[3][:1] + b"\3" + late[3][2:])
    assert (shared.datatype.is_shared, shared.dataspace.is_shared) == (True, True)
    for body in (b"", b"\4" + bytes(20), b"\1\0\0"):
        with pytest.raises(NotUnderstoodError):
            m.parse_attribute(body)


def test_dataspaces():
    early = b"\1\2\1\0" + bytes(4) + quads(3, 4, 3, NOWHERE)
    late = b"\2\2\1\1" + quads(3, 4, 3, NOWHERE)
    for body in (early, late):
        assert m.parse_elements(body, SIZES) == 12
        assert m.parse_shape(body, SIZES) == ((3, 4), (3, None))
    assert m.parse_shape(b"\2\1\0\1" + quads(3), SIZES) == ((3,), (3,))
    assert m.parse_elements(b"\2\0\0\0", SIZES) == m.parse_elements(b"\1\0\0\0\0\0\0\0", SIZES) == 1
    assert m.parse_elements(b"\2\0\0\2", SIZES) == 0  # null


def test_fill_values():
    assert m.parse_fill(struct.pack("<I", 3) + b"abc", m.OLD_FILL) == b"abc"
    assert m.parse_fill(b"\2\1\0\1" + struct.pack("<I", 3) + b"abc", m.FILL) == b"abc"
    assert m.parse_fill(b"\2\1\0\0", m.FILL) == b""
    assert m.parse_fill(b"\3\x2a" + struct.pack("<I", 3) + b"abc", m.FILL) == b"abc"
    assert m.parse_fill(b"\3\x0a", m.FILL) == b""


def test_filters():
    deflate = struct.pack("<HHHH", 1, 8, 1, 1) + b"deflate\0" + struct.pack("<II", 4, 0)
    shuffle = struct.pack("<HHHH", 2, 0, 1, 2) + struct.pack("<II", 8, 9)
    assert m.parse_filters(b"\1\2" + bytes(6) + deflate + shuffle) == ((1, (4,)), (2, (8, 9)))
    known = struct.pack("<HHH", 1, 1, 1) + struct.pack("<I", 4)
    other = struct.pack("<HHHH", 32000, 4, 1, 0) + b"lzf\0"
    assert m.parse_filters(b"\2\2" + known + other) == ((1, (4,)), (32000, ()))
    assert m.parse_filters(b"\2\0") == ()


def test_the_heap_of_the_names_of_external_files():
    assert m.parse_external(b"\1\0\0\0" + struct.pack("<HH", 1, 1) + quads(700), SIZES) == 700


def test_pages():
    assert m.parse_page(b"\1\1\0" + quads(1, 4096), SIZES) == 4096
    assert m.parse_page(b"\1\0\0" + quads(1, 4096), SIZES) == 0
    assert m.parse_page(b"\0\1" + quads(1), SIZES) == 0


@pytest.mark.parametrize(
    "parse",
    [
        lambda body: m.parse_link(body, SIZES),
        lambda body: m.parse_link_info(body, SIZES),
        lambda body: m.parse_shared(body, SIZES),
        lambda body: m.parse_shape(body, SIZES),
        lambda body: m.parse_filters(body),
        lambda body: m.parse_fill(body, m.FILL),
    ],
)
def test_bodies_that_end_too_early(parse):
    for body in (b"", b"\1", b"\2\4\1"):
        with pytest.raises(NotUnderstoodError):
            parse(body)
