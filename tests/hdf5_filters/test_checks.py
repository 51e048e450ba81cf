import bz2

import pytest

from shadowzarr.hdf5_filters.checks import does_nothing, has_size, input_check


def complaint(data, number, values=(), nbytes=4000):
    return input_check(number, values, nbytes)(memoryview(data))


def test_the_size_of_all():
    assert has_size(3)(memoryview(b"abc")) == ""
    assert has_size(3)(memoryview(b"ab")) == "it decodes to 2 bytes, not 3"


@pytest.mark.parametrize(("length", "is_enough"), [(0, False), (4, False), (5, True), (4000, True)])
def test_fletcher32_needs_more_than_its_sum(length, is_enough):
    assert (complaint(bytes(length), 3) == "") is is_enough


def test_szip_allocates_what_it_is_told():
    assert complaint((4000).to_bytes(4, "little") + b"x", 4) == ""
    assert "announces" in complaint((2**31).to_bytes(4, "little") + b"x", 4)
    assert "truncated" in complaint(b"\0\0\0\0", 4)


def test_scale_offset_needs_its_bits():
    values = (2, 0, 1000, 0, 4, 1, 0, 0)
    head = (3).to_bytes(4, "little") + bytes(17)
    assert complaint(head + bytes(375), 6, values) == ""
    assert "396 are needed" in complaint(head + bytes(374), 6, values)
    assert complaint(bytes(21), 6, values) == ""
    assert "40 bits" in complaint((40).to_bytes(4, "little") + bytes(5000), 6, values)


def test_scale_offset_that_keeps_all_bits_has_no_header():
    assert does_nothing(6, (2, 32, 1000, 0, 4, 1, 0, 0))


def test_n_bit_needs_what_it_packs():
    values = (8, 0, 10, 1, 4, 0, 20, 7)
    assert complaint(bytes(25), 5, values) == ""
    assert "25 are needed" in complaint(bytes(24), 5, values)
    assert does_nothing(5, (8, 1, 10, 1, 4, 0, 32, 0))
    assert not does_nothing(5, (8, 0, 10, 1, 4, 0, 17, 0))


def test_bzip2_has_to_end():
    stored = bz2.compress(b"x" * 100)
    assert complaint(stored, 307) == ""
    assert complaint(stored[:-1], 307) == "it is truncated"
    assert complaint(b"no bzip2 at all", 307).startswith("bzip2: ")
    assert "makes more than" in complaint(bz2.compress(bytes(10**8)), 307)


def test_blosc_says_how_long_it_is():
    head = bytes([2, 1, 1, 4]) + (4000).to_bytes(4, "little") + bytes(4)
    assert complaint(head + (20).to_bytes(4, "little") + bytes(4), 32001) == ""
    assert "20 are needed" in complaint(head + (20).to_bytes(4, "little") + bytes(3), 32001)
    assert "16 are needed" in complaint(head, 32001)
    assert "announces" in complaint(b"\xff" * 30, 32001)


BLOCKS = (4000).to_bytes(8, "big") + (2048).to_bytes(4, "big")


def test_blocks_have_to_be_there():
    two = BLOCKS + (3).to_bytes(4, "big") + b"abc" + (2).to_bytes(4, "big") + b"de"
    assert complaint(two, 32004) == ""
    assert "truncated" in complaint(two[:-1], 32004)
    assert "truncated" in complaint(BLOCKS + (2**31).to_bytes(4, "big") + bytes(50), 32004)
    for header in (b"", bytes(12), BLOCKS[:11], b"\xff" + BLOCKS[1:] + bytes(50)):
        assert "header" in complaint(header, 32004)


def test_bitshuffle_has_a_tail_that_is_no_block():
    values = (0, 5, 2, 0, 2)
    header = (22).to_bytes(8, "big") + (16).to_bytes(4, "big")
    whole = header + (1).to_bytes(4, "big") + b"x" + bytes(6)
    assert complaint(whole, 32008, values, 22) == ""
    assert "truncated" in complaint(whole[:-1], 32008, values, 22)
    assert "header" in complaint(header[:-1] + b"\x03" + bytes(50), 32008, values, 22)
    assert input_check(32008, (0, 5, 2, 0, 0), 22) is None
