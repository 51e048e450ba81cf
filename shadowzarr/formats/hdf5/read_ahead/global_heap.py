"""Global heap collections, which values of varying length point into (HDF5 File Format, III.E)."""

from __future__ import annotations

from collections.abc import Iterator

from ....refs.byte_range import FileRange
from .fields import NotUnderstoodError, Sizes, Walk, expect, number

FIRST_READ = 4096
"""Bytes of the smallest collection, which HDF5 itself reads first."""

MAX_BYTES = 64 * 2**20
"""Bytes of a collection; larger ones are left to HDF5."""

_HEADER = 8  # before the collection's size


def header_bytes(sizes: Sizes) -> int:
    """Bytes of a collection before its first object."""
    return _HEADER + sizes.length


def object_bytes(length: int, sizes: Sizes) -> int:
    """Bytes that an object takes in a collection."""
    return 8 + sizes.length + -(-length // 8) * 8


def read_collection(place: int, expected: int, base: int, sizes: Sizes) -> Walk[bytes]:
    """A whole collection.

    Parameters
    ----------
    place : int
        Its address.
    expected : int
        Bytes that it has at least, as far as that is known.
    base : int
        What addresses count from.
    sizes : Sizes
        Of addresses and lengths.
    """
    first = min(max(FIRST_READ, expected), MAX_BYTES)
    (data,) = yield [FileRange(base + place, first)]
    expect(data, b"GCOL")
    length = number(data, _HEADER, sizes.length)
    if length > MAX_BYTES:
        raise NotUnderstoodError(f"a collection of {length:,} bytes")
    if length > len(data):
        (data,) = yield [FileRange(base + place, length)]
    return data[:length]


def objects(collection: bytes, sizes: Sizes) -> Iterator[tuple[int, bytes]]:
    """Numbers and bytes of a collection's objects; object 0 is the free space at its end."""
    at, head = header_bytes(sizes), 8 + sizes.length
    while at + head <= len(collection):
        index, length = number(collection, at, 2), number(collection, at + 8, sizes.length)
        if index == 0:
            return
        yield index, collection[at + head : at + head + length]
        at += head + -(-length // 8) * 8
