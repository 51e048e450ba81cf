"""Numbers in the bytes of a node, and what a walk over nodes is.

All numbers of HDF5's metadata are little-endian; how wide addresses and lengths are is said in the
superblock (HDF5 File Format, I.B "Offsets and Lengths").
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ....refs.byte_range import FileRange

type Walk[T] = Generator[list[FileRange], list[bytes], T]
"""Asks for ranges of the file, is sent their bytes (fewer at the end of the file), and ends with a result."""

NOT_UNDERSTOOD = (LookupError, ValueError, OverflowError)
"""What parsing raises on bytes that are no such node; `NotUnderstoodError` is one of them."""


class NotUnderstoodError(ValueError):
    """Bytes that are not the node they should be, or one of a kind that is left to HDF5.

    It never leaves this package: a node that is not understood is not read ahead.
    """


@dataclass(frozen=True, slots=True)
class NearRange(FileRange):
    """A range around which there is likely to be more of what will be wanted."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of an address and of a length."""

    address: int = 8
    length: int = 8


def number(data: bytes, at: int, size: int) -> int:
    """The unsigned number of ``size`` bytes at a place.

    Raises
    ------
    NotUnderstoodError
        When the data end before.
    """
    if at + size > len(data):
        raise NotUnderstoodError(f"{len(data)} bytes, and a field of {size} at {at}")
    return int.from_bytes(data[at : at + size], "little")


def address(data: bytes, at: int, sizes: Sizes) -> int | None:
    """The address at a place; None for the undefined one, whose bits are all set."""
    value = number(data, at, sizes.address)
    return None if value == (1 << 8 * sizes.address) - 1 else value


def expect(data: bytes, signature: bytes) -> None:
    """Refuse bytes that do not begin with a signature."""
    if not data.startswith(signature):
        raise NotUnderstoodError(f"{bytes(data[: len(signature)])!r}, not {signature!r}")


def bytes_for(limit: int) -> int:
    """Bytes of the smallest whole number of bytes that holds numbers up to a limit."""
    return max(1, -(-limit.bit_length() // 8))
