"""The data type in n-bit's client data values: whether it is one, and how many bits it packs.

HDF5 walks it as it stands: it divides by the sizes in it, calls itself for each type within a type, and
leaves zeros for a class that it does not know. The layout is that of the HDF5 File Format, IV.A.2.l.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_ATOMIC, _ARRAY, _COMPOUND, _UNPACKED = 1, 2, 3, 4
_MOST_LEVELS = 32
_HEAD = 3  # number of values, whether nothing is packed, elements of a chunk


class BadTypeError(Exception):
    """What is wrong with the values."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How n-bit packs an element.

    Attributes
    ----------
    size : int
        Its bytes in memory.
    bits : int
        Its bits in a stored chunk.
    """

    size: int
    bits: int


def is_packed(values: tuple[int, ...]) -> bool:
    """Whether a chunk is packed at all; n-bit passes on what has no bits to spare."""
    return len(values) > 1 and not values[1]


def packing(values: tuple[int, ...]) -> Packing:
    """The packing of an element.

    Raises
    ------
    BadTypeError
        When the values describe no type.
    """
    if len(values) <= _HEAD or values[0] != len(values):
        raise BadTypeError(f"{len(values)} values do not describe a type")
    rest = iter(values[_HEAD:])
    kind = _next(rest)
    if kind == _UNPACKED:
        raise BadTypeError("a type of unknown class")
    found = _type(kind, rest, 1)
    if next(rest, None) is not None:
        raise BadTypeError("values after the end of the type")
    return found


def _type(kind: int, rest: Iterator[int], level: int) -> Packing:
    if level > _MOST_LEVELS:
        raise BadTypeError(f"types within types, more than {_MOST_LEVELS} levels of them")
    size = _next(rest)
    if size == 0:
        raise BadTypeError("a type of no bytes")
    if kind == _ATOMIC:
        return _atomic(size, rest)
    if kind == _ARRAY:
        base = _type(_next(rest), rest, level + 1)
        if size % base.size:
            raise BadTypeError(f"an array of {size:,} bytes with elements of {base.size:,}")
        return Packing(size, size // base.size * base.bits)
    if kind == _COMPOUND:
        return _compound(size, rest, level)
    if kind == _UNPACKED:
        return Packing(size, 8 * size)
    raise BadTypeError("a type of unknown class")


def _atomic(size: int, rest: Iterator[int]) -> Packing:
    order, precision, offset = _next(rest), _next(rest), _next(rest)
    if order > 1 or precision == 0 or precision + offset > 8 * size:
        raise BadTypeError(f"{precision:,} bits from bit {offset:,} in byte order {order} of {size:,} bytes")
    return Packing(size, precision)


def _compound(size: int, rest: Iterator[int], level: int) -> Packing:
    used = bits = 0
    for _ in range(_next(rest)):
        offset = _next(rest)
        member = _type(_next(rest), rest, level + 1)
        used, bits = used + member.size, bits + member.bits
        if used > size or offset + member.size > size:
            raise BadTypeError(f"members that do not fit into {size:,} bytes")
    return Packing(size, bits)


def _next(rest: Iterator[int]) -> int:
    value = next(rest, None)
    if value is None:
        raise BadTypeError("the type ends in the middle")
    return value
