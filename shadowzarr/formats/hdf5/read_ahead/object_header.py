"""Object headers of both versions with their continuation blocks (HDF5 File Format, IV.A.1).

The messages of an object, undecoded; what is in them is the subject of `messages`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....refs.byte_range import FileRange
from .fields import NotUnderstoodError, Sizes, Walk, address, number

FIRST_READ = 512
"""Bytes that HDF5 itself reads of a header before it knows how long that is."""

CONTINUATION = 0x10
MAX_BLOCKS = 4096
"""Blocks of one header, and bytes of one block: a header that is larger is left to HDF5."""
MAX_BLOCK_BYTES = 16 * 2**20
_NIL = 0
_SHARED = 2
_TIMES, _PHASES, _ORDERED = 0x20, 0x10, 0x04
_CHECKSUM = 4


class Message(NamedTuple):
    """One message of an object header.

    Attributes
    ----------
    kind : int
        Its type.
    data : bytes
        Its body; of a shared one, where the body is.
    is_shared : bool
        Whether it is a shared one.
    """

    kind: int
    data: bytes
    is_shared: bool


def read_header(
    place: int, base: int, sizes: Sizes, *, hear: Callable[[list[Message]], None] = lambda _: None
) -> Walk[list[Message]]:
    """All messages of an object.

    Parameters
    ----------
    place : int
        Address of the header.
    base : int
        What addresses count from.
    sizes : Sizes
        Of addresses and lengths.
    hear : callable, optional
        Called with the messages of the first block, and of each level of continuations, before the next is
        read.
    """
    (data,) = yield [FileRange(base + place, FIRST_READ)]
    is_late = data.startswith(b"OHDR")
    start, stop = _late_body(data) if is_late else _early_body(data)
    if stop + _CHECKSUM * is_late > len(data):
        _check_size(stop)
        (data,) = yield [FileRange(base + place, stop + _CHECKSUM * is_late)]
    is_ordered = is_late and bool(data[5] & _ORDERED)
    messages = _messages(data, start, stop, is_late, is_ordered)
    hear(messages)
    known = {place}
    todo = _continuations(messages, sizes, known)
    while todo:
        blocks = yield [FileRange(base + at, length) for at, length in todo]
        found: list[Message] = []
        for block in blocks:
            start, stop = (4, len(block) - _CHECKSUM) if is_late else (0, len(block))
            found += _messages(block, start, stop, is_late, is_ordered)
        messages = [*messages, *found]
        hear(found)
        todo = _continuations(found, sizes, known)
    return messages


def _early_body(data: bytes) -> tuple[int, int]:
    """Where the messages of version 1 are: after 12 bytes, aligned to 8."""
    if number(data, 0, 1) != 1:
        raise NotUnderstoodError("no object header")
    return 16, 16 + number(data, 8, 4)


def _late_body(data: bytes) -> tuple[int, int]:
    if number(data, 4, 1) != 2:
        raise NotUnderstoodError("an object header of another version")
    flags = number(data, 5, 1)
    at = 6 + (16 if flags & _TIMES else 0) + (4 if flags & _PHASES else 0)
    width = 1 << (flags & 3)
    return at + width, at + width + number(data, at, width)


def _messages(data: bytes, at: int, stop: int, is_late: bool, is_ordered: bool) -> list[Message]:
    """The messages of one block; what remains at its end is a gap."""
    head = (6 if is_ordered else 4) if is_late else 8
    found = []
    stop = min(stop, len(data))
    while at + head <= stop:
        if is_late:
            kind, size, flags = data[at], data[at + 1] | data[at + 2] << 8, data[at + 3]
        else:
            kind, size = data[at] | data[at + 1] << 8, data[at + 2] | data[at + 3] << 8
            flags = data[at + 4]
        at += head
        if at + size > stop:
            break
        if kind != _NIL:
            found.append(Message(kind, data[at : at + size], bool(flags & _SHARED)))
        at += size
    return found


def _continuations(messages: list[Message], sizes: Sizes, known: set[int]) -> list[tuple[int, int]]:
    """Where blocks are that were not known yet."""
    found = []
    for message in messages:
        if message.kind != CONTINUATION:
            continue
        at, length = address(message.data, 0, sizes), number(message.data, sizes.address, sizes.length)
        if at is None or at in known:
            continue
        _check_size(length)
        known.add(at)
        found.append((at, length))
    if len(known) > MAX_BLOCKS:
        raise NotUnderstoodError(f"a header of more than {MAX_BLOCKS} blocks")
    return found


def _check_size(length: int) -> None:
    if length > MAX_BLOCK_BYTES:
        raise NotUnderstoodError(f"a header block of {length:,} bytes")
