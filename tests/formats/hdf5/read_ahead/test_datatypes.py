"""HDF5 File Format, IV.A.2.d: the size of datatypes, and the pointers in their elements."""

import struct

import pytest

from shadowzarr.formats.hdf5.read_ahead.datatypes import Datatype, Pointer, parse_datatype
from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError

from .nodes import SIZES


def head(kind, size, *, version=1, bits=0):
    return bytes([version << 4 | kind]) + bits.to_bytes(3, "little") + struct.pack("<I", size)


I4 = head(0, 4) + struct.pack("<HH", 0, 32)
F8 = head(1, 8) + bytes(12)
TEXT = head(3, 10)
CHARACTER = head(3, 1)
VLEN_TEXT = head(9, 16, bits=1) + CHARACTER
OBJECT = head(7, 8)
REGION = head(7, 12, bits=1)
CHARACTER_TYPE = Datatype(1, is_plain=False)
STRING = Pointer(0, CHARACTER_TYPE)


def parse(data):
    return parse_datatype(data, SIZES)


def padded(name):
    return name + bytes(8 - len(name) % 8)


@pytest.mark.parametrize(
    ("data", "size"),
    [(I4, 4), (F8, 8), (head(4, 2) + bytes(4), 2), (head(5, 6, bits=8) + b"tag\0\0\0\0\0", 6)],
)
def test_numbers_and_bytes_are_plain(data, size):
    assert parse(data) == Datatype(size)
    assert parse(data + b"what follows") == Datatype(size)


def test_text_and_references_are_not_plain():
    assert parse(TEXT) == Datatype(10, is_plain=False)
    assert parse(OBJECT) == Datatype(8, is_plain=False)
    assert parse(head(2, 4) + bytes(2)) == Datatype(4, is_plain=False)


def test_pointers():
    assert parse(VLEN_TEXT) == Datatype(16, (STRING,), is_plain=False)
    assert parse(head(9, 16) + I4) == Datatype(16, (Pointer(0, Datatype(4)),), is_plain=False)
    assert parse(REGION) == Datatype(12, (Pointer(0, None),), is_plain=False)
    nested = parse(head(9, 16) + VLEN_TEXT)
    assert nested.pointers == (Pointer(0, Datatype(16, (STRING,), is_plain=False)),)


def test_enumerations():
    early = head(8, 1, bits=2) + head(0, 1) + bytes(4) + padded(b"no") + padded(b"yes") + b"\0\1"
    late = head(8, 1, version=3, bits=2) + head(0, 1) + bytes(4) + b"no\0yes\0" + b"\0\1"
    for base in (early, late):
        assert parse(base) == Datatype(1)
        assert parse(head(9, 16) + base).pointers == (Pointer(0, Datatype(1)),)
        pair = head(6, 17, version=3, bits=2) + b"a\0\0" + base + b"b\0\1" + VLEN_TEXT
        assert parse(pair).pointers == (Pointer(1, CHARACTER_TYPE),)


def test_compounds():
    version_2 = (
        head(6, 28, version=2, bits=3)
        + (padded(b"number") + struct.pack("<I", 0) + I4)
        + (padded(b"text") + struct.pack("<I", 4) + VLEN_TEXT)
        + (padded(b"exactly8") + struct.pack("<I", 20) + F8)
    )
    version_3 = head(6, 28, version=3, bits=3) + b"n\0\0" + I4 + b"t\0\4" + VLEN_TEXT + b"e\0\24" + F8
    for data in (version_2, version_3):
        assert parse(data) == Datatype(28, (Pointer(4, CHARACTER_TYPE),), is_plain=False)


def test_offsets_of_version_3_are_as_wide_as_the_size_needs():
    data = head(6, 300, version=3, bits=1) + b"t\0" + struct.pack("<H", 284) + VLEN_TEXT
    assert parse(data).pointers == (Pointer(284, CHARACTER_TYPE),)


def test_members_of_version_1_may_be_arrays():
    member = padded(b"texts") + struct.pack("<IB3xI4x4I", 8, 2, 0, 2, 3, 0, 0) + VLEN_TEXT
    found = parse(head(6, 104, version=1, bits=1) + member)
    assert [pointer.offset for pointer in found.pointers] == [8, 24, 40, 56, 72, 88]


def test_arrays():
    version_2 = head(10, 64, version=2) + bytes([2, 0, 0, 0]) + struct.pack("<4I", 2, 2, 0, 0) + VLEN_TEXT
    version_3 = head(10, 64, version=3) + bytes([2]) + struct.pack("<2I", 2, 2) + VLEN_TEXT
    for data in (version_2, version_3):
        found = parse(data)
        assert (found.size, [pointer.offset for pointer in found.pointers]) == (64, [0, 16, 32, 48])


def test_complex_numbers():
    assert parse(head(11, 16, version=5) + F8) == Datatype(16)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        I4[:5],
        head(12, 4) + bytes(20),
        head(9, 16) * 70,
        head(10, 1, version=3) + bytes([2]) + struct.pack("<2I", 2**20, 2**20) + VLEN_TEXT,
        head(6, 28, version=3, bits=5) + b"n\0\0" + I4,
    ],
)
def test_what_is_none(data):
    with pytest.raises((NotUnderstoodError, ValueError)):
        parse(data)
