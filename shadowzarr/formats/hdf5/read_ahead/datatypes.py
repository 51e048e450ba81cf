"""Datatype messages: how long an element is, and where in it pointers into global heaps are.

HDF5 File Format, IV.A.2.d. Nothing else of a type matters for what has to be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from .fields import NotUnderstoodError, Sizes, number

MAX_POINTERS = 4096
"""Pointers in an element; a type with more is left to HDF5."""

_TIME, _STRING, _REFERENCE = 2, 3, 7
_FIXED = {0: 4, 1: 12, _TIME: 2, _STRING: 0, 4: 4, _REFERENCE: 0}
_HEAD = 8
_REGION = 1
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer into a global heap.

    Attributes
    ----------
    offset : int
        Where it is in the element.
    item : Datatype or None
        What a sequence is of; None for a region reference, which has no length before its address.
    """

    offset: int
    item: Datatype | None


@dataclass(frozen=True, slots=True)
class Datatype:
    """What of a datatype decides which bytes are read.

    Attributes
    ----------
    size : int
        Bytes of an element.
    pointers : tuple of Pointer
        Into global heaps.
    is_plain : bool
        Whether it is made of numbers and bytes alone, without text, references and sequences.
    """

    size: int
    pointers: tuple[Pointer, ...] = ()
    is_plain: bool = True


@lru_cache(maxsize=4096)
def parse_datatype(data: bytes, sizes: Sizes) -> Datatype:
    """The datatype of a message's body.

    Raises
    ------
    NotUnderstoodError
        When it is none, or of a kind that is left to HDF5.
    """
    return _parse(data, 0, sizes, 0)[0]


def _parse(data: bytes, at: int, sizes: Sizes, depth: int) -> tuple[Datatype, int]:
    """A datatype at a place, and where it ends."""
    if depth > _MAX_DEPTH:
        raise NotUnderstoodError("types in types without end")
    kind, version = number(data, at, 1) & 15, number(data, at, 1) >> 4
    bits, size = number(data, at + 1, 3), number(data, at + 4, 4)
    at += _HEAD
    match kind:
        case 0 | 1 | 2 | 3 | 4:
            return Datatype(size, is_plain=kind not in (_TIME, _STRING)), at + _FIXED[kind]
        case 5:
            return Datatype(size), at + -(-(bits & 255) // 8) * 8
        case 6:
            return _compound(data, at, bits & 0xFFFF, size, version, sizes, depth)
        case 7:
            pointers = (Pointer(0, None),) if bits & 15 == _REGION else ()
            return Datatype(size, pointers, is_plain=False), at
        case 8:
            return _enumeration(data, at, bits & 0xFFFF, size, version, sizes, depth)
        case 9:
            item, at = _parse(data, at, sizes, depth + 1)
            return Datatype(size, (Pointer(0, item),), is_plain=False), at
        case 10:
            return _array(data, at, size, version, sizes, depth)
        case 11:
            _, at = _parse(data, at, sizes, depth + 1)
            return Datatype(size), at
        case _:
            raise NotUnderstoodError(f"a datatype of class {kind}")


def _compound(
    data: bytes, at: int, members: int, size: int, version: int, sizes: Sizes, depth: int
) -> tuple[Datatype, int]:
    pointers: list[Pointer] = []
    is_plain = True
    offset_bytes = 4 if version < 3 else max(1, -(-size.bit_length() // 8))
    for _ in range(members):
        at = _after_name(data, at, version)
        offset = number(data, at, offset_bytes)
        at += offset_bytes
        repeats: tuple[int, ...] = ()
        if version == 1:
            repeats = tuple(number(data, at + 12 + 4 * k, 4) for k in range(min(number(data, at, 1), 4)))
            at += 28
        member, at = _parse(data, at, sizes, depth + 1)
        pointers += _moved(member, offset, repeats)
        is_plain &= member.is_plain
        _check_count(len(pointers))
    return Datatype(size, tuple(pointers), is_plain), at


def _enumeration(
    data: bytes, at: int, members: int, size: int, version: int, sizes: Sizes, depth: int
) -> tuple[Datatype, int]:
    base, at = _parse(data, at, sizes, depth + 1)
    for _ in range(members):
        at = _after_name(data, at, version)
    return Datatype(size), at + members * base.size


def _array(data: bytes, at: int, size: int, version: int, sizes: Sizes, depth: int) -> tuple[Datatype, int]:
    rank = number(data, at, 1)
    at += 4 if version < 3 else 1
    shape = tuple(number(data, at + 4 * k, 4) for k in range(rank))
    at += 4 * rank * (2 if version < 3 else 1)
    base, at = _parse(data, at, sizes, depth + 1)
    return Datatype(size, tuple(_moved(base, 0, shape)), base.is_plain), at


def _moved(member: Datatype, offset: int, repeats: tuple[int, ...]) -> list[Pointer]:
    """The pointers of a part, for each time that it is there."""
    if not member.pointers:
        return []
    count = 1
    for extent in repeats:
        count *= extent
        _check_count(count * len(member.pointers))
    places = (offset + k * member.size for k in range(count))
    return [Pointer(at + each.offset, each.item) for at, each in product(places, member.pointers)]


def _check_count(count: int) -> None:
    if count > MAX_POINTERS:
        raise NotUnderstoodError(f"a type of more than {MAX_POINTERS:,} pointers")


def _after_name(data: bytes, at: int, version: int) -> int:
    """Where a member goes on after its name, which early versions pad to a multiple of 8."""
    length = data.index(b"\0", at) - at + 1
    return at + (length if version >= 3 else -(-length // 8) * 8)
