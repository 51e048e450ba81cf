"""The messages of object headers that lead on to other nodes (HDF5 File Format, IV.A.2).

Bytes of a message in, addresses and numbers out.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import NamedTuple

from .fields import NotUnderstoodError, Sizes, address, number

DATASPACE, LINK_INFO, DATATYPE, OLD_FILL, FILL, LINK, EXTERNAL, LAYOUT = 1, 2, 3, 4, 5, 6, 7, 8
FILTERS, ATTRIBUTE, SHARED_TABLE, SYMBOL_TABLE, NODE_SIZES, ATTRIBUTE_INFO = 11, 12, 15, 17, 19, 21
FILE_SPACE, CACHE_IMAGE = 23, 24

_HARD = 0
_IN_HEAP = 1
_NULL = 2
_PAGED = 1

_ATTRIBUTE_HEAD = struct.Struct("<BBHHH")

Filters = tuple[tuple[int, tuple[int, ...]], ...]
"""Numbers and client data values."""


@dataclass(frozen=True, slots=True)
class Dense:
    """Links or attributes that are kept in a fractal heap.

    Attributes
    ----------
    heap : int
        Its address.
    trees : tuple of int
        Addresses of the B-trees that index it, by name and perhaps by creation order.
    """

    heap: int
    trees: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shared:
    """Where the body of a shared message is.

    Attributes
    ----------
    header : int or None
        Address of the object header that has it.
    heap_id : bytes
        Or its ID in the file's heap of shared messages of this type.
    """

    header: int | None
    heap_id: bytes = b""


class Part(NamedTuple):
    """A datatype or dataspace inside an attribute message.

    Attributes
    ----------
    data : bytes
        Its body, or where that is.
    is_shared : bool
        Which of the two.
    """

    data: bytes
    is_shared: bool


class Attribute(NamedTuple):
    """An attribute message.

    Attributes
    ----------
    datatype, dataspace : Part
        Of its value.
    value : bytes
        The value as it is stored.
    """

    datatype: Part
    dataspace: Part
    value: bytes


def parse_symbol_table(data: bytes, sizes: Sizes) -> tuple[int, int] | None:
    """Addresses of a group's B-tree and local heap."""
    tree, heap = address(data, 0, sizes), address(data, sizes.address, sizes)
    return None if tree is None or heap is None else (tree, heap)


def parse_link_info(data: bytes, sizes: Sizes) -> Dense | None:
    """The link info message; None when the links are messages of their own."""
    return _dense(data, 8, sizes)


def parse_attribute_info(data: bytes, sizes: Sizes) -> Dense | None:
    """The attribute info message; None when the attributes are messages of their own."""
    return _dense(data, 2, sizes)


def _dense(data: bytes, order_bytes: int, sizes: Sizes) -> Dense | None:
    flags = number(data, 1, 1)
    at = 2 + (order_bytes if flags & 1 else 0)
    heap = address(data, at, sizes)
    count = 2 if flags & 2 else 1
    trees = (address(data, at + k * sizes.address, sizes) for k in range(1, count + 1))
    return None if heap is None else Dense(heap, tuple(tree for tree in trees if tree is not None))


def parse_link(data: bytes, sizes: Sizes) -> int | None:
    """Address of the object that a link message leads to; None for links that are no hard ones."""
    flags = number(data, 1, 1)
    at = 2
    if flags & 8:
        if number(data, at, 1) != _HARD:
            return None
        at += 1
    at += (8 if flags & 4 else 0) + (1 if flags & 16 else 0)
    width = 1 << (flags & 3)
    at += width + number(data, at, width)
    return address(data, at, sizes)


def parse_shared(data: bytes, sizes: Sizes) -> Shared:
    """The body of a message that is flagged as shared."""
    version, kind = number(data, 0, 1), number(data, 1, 1)
    if version == 1:
        return Shared(address(data, 8, sizes))
    if version == 3 and kind == _IN_HEAP:
        return Shared(None, data[2:10])
    return Shared(address(data, 2, sizes))


def parse_attribute(data: bytes) -> Attribute:
    """An attribute message of any version."""
    if len(data) < 8 or data[0] not in (1, 2, 3):
        raise NotUnderstoodError("no attribute of a known version")
    version, flags, name, datatype, dataspace = _ATTRIBUTE_HEAD.unpack_from(data)
    step = 8 if version == 1 else 1
    start = (9 if version == 3 else 8) + -(-name // step) * step
    middle = start + -(-datatype // step) * step
    stop = middle + -(-dataspace // step) * step
    flags = 0 if version == 1 else flags
    return Attribute(
        Part(data[start : start + datatype], bool(flags & 1)),
        Part(data[middle : middle + dataspace], bool(flags & 2)),
        data[stop:],
    )


def parse_elements(data: bytes, sizes: Sizes) -> int:
    """Number of elements of a dataspace."""
    version, rank = number(data, 0, 1), number(data, 1, 1)
    if version == 2 and number(data, 3, 1) == _NULL:
        return 0
    at = 8 if version == 1 else 4
    return math.prod(number(data, at + k * sizes.length, sizes.length) for k in range(rank))


def parse_shape(data: bytes, sizes: Sizes) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    """Extents of a dataspace, and the largest they may have; None for an axis without limit."""
    rank, flags, width = number(data, 1, 1), number(data, 2, 1), sizes.length
    at = 8 if number(data, 0, 1) == 1 else 4
    shape = tuple(number(data, at + k * width, width) for k in range(rank))
    if not flags & 1:
        return shape, shape
    most = (number(data, at + (rank + k) * width, width) for k in range(rank))
    return shape, tuple(None if extent == (1 << 8 * width) - 1 else extent for extent in most)


def parse_fill(data: bytes, kind: int) -> bytes:
    """The fill value of either message; empty when there is none."""
    if kind == OLD_FILL:
        return data[4 : 4 + number(data, 0, 4)]
    version = number(data, 0, 1)
    if version < 3:
        is_there, at = number(data, 3, 1), 4
    else:
        is_there, at = number(data, 1, 1) & 32, 2
    return data[at + 4 : at + 4 + number(data, at, 4)] if is_there and len(data) >= at + 4 else b""


def parse_filters(data: bytes) -> Filters:
    """The filter pipeline message."""
    version, count = number(data, 0, 1), number(data, 1, 1)
    at = 8 if version == 1 else 2
    found = []
    for _ in range(count):
        filter_id = number(data, at, 2)
        has_name = version == 1 or filter_id >= 256
        name = number(data, at + 2, 2) if has_name else 0
        at += 4 if has_name else 2
        values = number(data, at + 2, 2)
        at += 4 + (-(-name // 8) * 8 if version == 1 else name)
        found.append((filter_id, tuple(number(data, at + 4 * k, 4) for k in range(values))))
        at += 4 * values + (4 if version == 1 and values % 2 else 0)
    return tuple(found)


def parse_external(data: bytes, sizes: Sizes) -> int | None:
    """Address of the local heap with the names of external files."""
    return address(data, 8, sizes)


def parse_page(data: bytes, sizes: Sizes) -> int:
    """Bytes of a page, from the file space info message; 0 when the space has no pages."""
    if number(data, 0, 1) != 1 or number(data, 1, 1) != _PAGED:
        return 0
    return number(data, 3 + sizes.length, sizes.length)
