"""Data layout messages, written out field by field."""

import struct

import pytest

from shadowzarr.formats.hdf5.chunk_index import FieldSizes, IndexRefusedError, parse_layout
from shadowzarr.formats.hdf5.chunk_index.layout import ChunkedStorage, ExtensibleArrayParameters

WIDE = FieldSizes()
NARROW = FieldSizes(4, 4)


def test_version_3_chunked() -> None:
    body = struct.pack("<BBBQIII", 3, 2, 3, 0x1234, 20, 10, 4)
    found = parse_layout(body + bytes(5), WIDE)
    assert (found.version, found.layout_class, found.address) == (3, "chunked", 0x1234)
    assert found.chunked == ChunkedStorage(3, "v1_btree", 0x1234, (20, 10), 4)
    assert found.chunked.chunk_bytes == 800


def test_version_3_with_short_addresses() -> None:
    body = struct.pack("<BBBIII", 3, 2, 2, 0x1234, 20, 8)
    assert parse_layout(body, NARROW).chunked == ChunkedStorage(3, "v1_btree", 0x1234, (20,), 8)


@pytest.mark.parametrize(("sizes", "code"), [(WIDE, "Q"), (NARROW, "I")])
def test_nothing_was_written(sizes: FieldSizes, code: str) -> None:
    body = struct.pack(f"<BBB{code}II", 3, 2, 2, sizes.undefined, 20, 8)
    found = parse_layout(body, sizes)
    assert found.address is None
    assert found.chunked is not None
    assert found.chunked.address is None


@pytest.mark.parametrize("version", [1, 2])
def test_old_versions(version: int) -> None:
    chunked = struct.pack("<BBB5xQIII", version, 3, 2, 0x88, 20, 10, 2)
    assert parse_layout(chunked, WIDE).chunked == ChunkedStorage(version, "v1_btree", 0x88, (20, 10), 2)
    contiguous = struct.pack("<BBB5xQII", version, 2, 1, 0x88, 20, 10)
    found = parse_layout(contiguous, WIDE)
    assert (found.layout_class, found.address, found.chunked) == ("contiguous", 0x88, None)
    compact = parse_layout(struct.pack("<BBB5xIII", version, 1, 0, 2, 4, 2), WIDE)
    assert (compact.layout_class, compact.address) == ("compact", None)


def test_other_classes() -> None:
    assert parse_layout(struct.pack("<BBH", 3, 0, 7) + bytes(7), WIDE).layout_class == "compact"
    found = parse_layout(struct.pack("<BBQQ", 4, 1, 0x99, 80), WIDE)
    assert (found.layout_class, found.address, found.size) == ("contiguous", 0x99, 80)
    found = parse_layout(struct.pack("<BBQI", 4, 3, 0x99, 2), WIDE)
    assert (found.layout_class, found.address, found.size) == ("virtual", 0x99, 2)


def later(version: int, flags: int, index: bytes, address: int = 0x77) -> bytes:
    """Version 4 or 5 with chunks of 300 × 10 and elements of 4 bytes, edges of two bytes each."""
    head = struct.pack("<BBBBB3H", version, 2, flags, 3, 2, 300, 10, 4)
    return head + index + struct.pack("<Q", address)


@pytest.mark.parametrize("version", [4, 5])
def test_each_index(version: int) -> None:
    def parsed(flags: int, index: bytes) -> ChunkedStorage:
        storage = parse_layout(later(version, flags, index), WIDE).chunked
        assert storage is not None
        assert (storage.version, storage.address, storage.edges, storage.element_size) == (
            version,
            0x77,
            (300, 10),
            4,
        )
        return storage

    assert parsed(0, b"\x01").filtered_size is None
    single = parsed(2, b"\x01" + struct.pack("<QI", 555, 3))
    assert (single.kind, single.filtered_size, single.filter_mask) == ("single", 555, 3)
    assert parsed(0, b"\x02").kind == "implicit"
    fixed = parsed(1, b"\x03\x0a")
    assert (fixed.kind, fixed.page_bits, fixed.skips_filters_at_edges) == ("fixed_array", 10, True)
    growing = parsed(0, b"\x04" + bytes([32, 4, 4, 16, 10]))
    assert growing.kind == "extensible_array"
    assert growing.growth == ExtensibleArrayParameters(32, 4, 4, 16, 10)
    tree = parsed(0, b"\x05" + struct.pack("<IBB", 2048, 100, 40))
    assert (tree.kind, tree.node_size, tree.skips_filters_at_edges) == ("v2_btree", 2048, False)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "cut short"),
        (b"\x06\x02", "version 6"),
        (b"\x00\x02", "version 0"),
        (b"\x03\x04", "class 4"),
        (b"\x01\x02\x05" + bytes(20), "class 5"),
        (later(4, 0, b"\x06"), "type 6"),
        (later(4, 4, b"\x02"), "flags 4"),
        (later(4, 0, b"\x02")[:-1], "cut short"),
        (struct.pack("<BBBQII", 3, 2, 2, 0x12, 0, 8), "shape"),
        (struct.pack("<BBBQ", 3, 2, 0, 0x12), "shape"),
        (struct.pack("<BBBBB", 4, 2, 0, 2, 9), "9 bytes"),
    ],
)
def test_what_is_not_understood(body: bytes, reason: str) -> None:
    with pytest.raises(IndexRefusedError, match=reason):
        parse_layout(body, WIDE)


def test_no_bytes_of_any_kind_do_harm() -> None:
    whole = later(4, 2, b"\x01" + struct.pack("<QI", 555, 3))
    for length in range(len(whole)):
        with pytest.raises(IndexRefusedError):
            parse_layout(whole[:length], WIDE)
