"""HDF5 File Format, IV.A.1: object headers of both versions, with continuations."""

import struct

import pytest

from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError
from shadowzarr.formats.hdf5.read_ahead.object_header import MAX_BLOCK_BYTES, Message, read_header

from .nodes import SIZES, Placed, drive, early_header, early_message, late_header, late_message


def read(file, place=1000, base=0):
    messages, rounds = drive(read_header(place, base, SIZES), bytes(file))
    return [(each.kind, each.data) for each in messages], rounds


def test_version_1():
    header = early_header(
        early_message(1, b"12345678"), early_message(0, bytes(16)), early_message(8, b"abc")
    )
    found, rounds = read(Placed().put(1000, header))
    assert found == [(1, b"12345678"), (8, b"abc\0\0\0\0\0")]
    assert rounds == [[(1000, 512)]]


def test_addresses_count_from_the_base():
    found, rounds = read(Placed().put(1512, early_header(early_message(1, b"x" * 8))), base=512)
    assert (found, rounds) == ([(1, b"x" * 8)], [[(1512, 512)]])


def test_a_header_longer_than_the_first_read():
    header = early_header(early_message(12, b"a" * 600), early_message(8, b"b" * 8))
    found, rounds = read(Placed().put(1000, header))
    assert found == [(12, b"a" * 600), (8, b"b" * 8)]
    assert rounds == [[(1000, 512)], [(1000, len(header))]]


def test_continuations_of_version_1_follow_each_other():
    one = early_header(early_message(16, struct.pack("<QQ", 3000, 40)), early_message(1, b"1" * 8))
    two = early_message(16, struct.pack("<QQ", 5000, 16)) + early_message(5, b"2" * 8)
    three = early_message(12, b"3" * 8)
    found, rounds = read(Placed().put(1000, one).put(3000, two).put(5000, three))
    assert [kind for kind, _ in found] == [16, 1, 16, 5, 12]
    assert rounds == [[(1000, 512)], [(3000, 40)], [(5000, 16)]]


def test_two_continuations_come_together():
    header = early_header(*(early_message(16, struct.pack("<QQ", at, 16)) for at in (3000, 4000)))
    file = (
        Placed().put(1000, header).put(3000, early_message(1, b"1" * 8)).put(4000, early_message(3, b"3" * 8))
    )
    assert read(file)[1] == [[(1000, 512)], [(3000, 16), (4000, 16)]]


def test_a_continuation_that_leads_back_ends():
    header = early_header(early_message(16, struct.pack("<QQ", 3000, 24)))
    again = early_message(16, struct.pack("<QQ", 3000, 24))
    assert len(read(Placed().put(1000, header).put(3000, again))[1]) == 2


def test_version_2():
    header = late_header(late_message(1, b"space"), late_message(8, b"layout"), gap=b"\0\0")
    assert read(Placed().put(1000, header))[0] == [(1, b"space"), (8, b"layout")]


def test_version_2_with_everything():
    header = late_header(
        late_message(1, b"space", order=7), late_message(3, b"type", order=8), flags=0x34, before=bytes(20)
    )
    assert read(Placed().put(1000, header))[0] == [(1, b"space"), (3, b"type")]


def test_a_size_of_two_bytes():
    content = late_message(12, b"a" * 700)
    header = b"OHDR" + bytes([2, 1]) + struct.pack("<H", len(content)) + content + b"SUM!"
    found, rounds = read(Placed().put(1000, header))
    assert found == [(12, b"a" * 700)]
    assert rounds[1] == [(1000, len(header))]


def test_continuations_of_version_2_have_a_signature_and_a_checksum():
    header = late_header(late_message(16, struct.pack("<QQ", 3000, 4 + 9 + 4)))
    block = b"OCHK" + late_message(3, b"type!") + b"SUM!"
    found, rounds = read(Placed().put(1000, header).put(3000, block))
    assert found[1:] == [(3, b"type!")]
    assert rounds[1] == [(3000, 17)]


def test_shared_messages_are_marked():
    messages, _ = drive(
        read_header(0, 0, SIZES), early_header(early_message(3, b"x" * 16, flags=3)) + bytes(500)
    )
    assert messages == [Message(3, b"x" * 16, is_shared=True)]


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\2" + bytes(50),
        b"OHDR\1" + bytes(50),
        struct.pack("<BxHII4x", 1, 1, 1, MAX_BLOCK_BYTES + 1),
        early_header(early_message(16, struct.pack("<QQ", 3000, MAX_BLOCK_BYTES + 1))),
        early_header(early_message(16, b"")),
    ],
)
def test_what_is_none(header):
    with pytest.raises(NotUnderstoodError):
        drive(read_header(0, 0, SIZES), header)


def test_messages_are_told_before_the_next_block_is_read():
    header = early_header(early_message(16, struct.pack("<QQ", 3000, 16)), early_message(1, b"1" * 8))
    file = bytes(Placed().put(1000, header).put(3000, early_message(3, b"3" * 8)))
    heard = []
    walk = read_header(1000, 0, SIZES, hear=lambda found: heard.append([each.kind for each in found]))
    next(walk)
    walk.send([file[1000:1512]])
    assert heard == [[16, 1]]
    with pytest.raises(StopIteration):
        walk.send([file[3000:3016]])
    assert heard == [[16, 1], [3]]
