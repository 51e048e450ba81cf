"""What is wrong with the bytes between two filters, before a filter believes them.

HDF5 2.0 and its plug-ins read past the end of what is too short (fletcher32 and bitshuffle crash), never
return (bzip2) or leave part of their result as it was in memory. Each check looks at the bytes that a
filter is about to undo and returns a complaint, or nothing. Pure; the layouts are those of the filters'
own documentation.
"""

from __future__ import annotations

import bz2
from collections.abc import Callable
from functools import partial

from .names import BITSHUFFLE, BLOSC, BZIP2, FLETCHER32, LZ4, NBIT, SCALEOFFSET, SZIP
from .nbit import is_packed, packing

Check = Callable[[memoryview], str]
"""Takes bytes, returns what is wrong with them; empty when nothing is."""

_SCALEOFFSET_HEADER = 21
_OVERHEAD = 4096  # what filters before this one may have added to a small chunk: blosc2 alone adds 250 bytes
_SCALEOFFSET_INTEGER = 2
_PIECE = 2**20
_BLOCKS_HEADER = 12  # bytes in all and bytes of a block, big-endian, as lz4 and bitshuffle begin


def has_size(nbytes: int) -> Check:
    """Check that all filters together have made as many bytes as a chunk has."""

    def check(data: memoryview) -> str:
        return "" if len(data) == nbytes else f"it decodes to {len(data):,} bytes, not {nbytes:,}"

    return check


def does_nothing(number: int, values: tuple[int, ...]) -> bool:
    """Whether a filter passes a chunk on as it is: n-bit and scale-offset of types without bits to spare.

    HDF5 2.0 then takes all the memory that the filter before it had for bytes of the chunk, which are more
    than it has and hide that it has fewer.
    """
    if number == NBIT:
        return not is_packed(values)
    return number == SCALEOFFSET and values[0] == _SCALEOFFSET_INTEGER and values[1] == 8 * values[4]


def input_check(number: int, values: tuple[int, ...], nbytes: int) -> Check | None:
    """The check of a filter's input; None when the filter is known to look for itself.

    Parameters
    ----------
    number : int
        The filter.
    values : tuple of int
        Its client data values, which `parameters` has nothing against, of a filter that does something.
    nbytes : int
        Bytes of the whole decoded chunk.
    """
    if number == FLETCHER32:
        return partial(_at_least, 5)
    if number == SZIP:
        return partial(_szip, nbytes)
    if number == NBIT:
        return partial(_at_least, -(-values[2] * packing(values).bits // 8))
    if number == SCALEOFFSET:
        return partial(_scaleoffset, values[2], values[4])
    if number == BZIP2:
        return partial(_bzip2, nbytes)
    if number == BLOSC:
        return partial(_blosc, nbytes)
    if number == LZ4:
        return partial(_blocks, nbytes, 1)
    if number == BITSHUFFLE and len(values) > 4 and values[4] and values[2]:
        return partial(_blocks, nbytes, 8 * values[2])
    return None


def _at_least(needed: int, data: memoryview) -> str:
    return "" if len(data) >= needed else f"it is truncated: {len(data):,} bytes where {needed:,} are needed"


def _szip(nbytes: int, data: memoryview) -> str:
    """The number of bytes that comes first is allocated."""
    size = int.from_bytes(data[:4], "little")
    return _at_least(5, data) or (f"szip announces {size:,} bytes" if size > 2 * nbytes + _OVERHEAD else "")


def _scaleoffset(elements: int, itemsize: int, data: memoryview) -> str:
    """Bits of an element, in the first four bytes, tell how many bytes there have to be."""
    bits = int.from_bytes(data[:4], "little")
    if bits > 8 * itemsize:
        return f"it has {bits:,} bits for an element of {itemsize}"
    packed = _SCALEOFFSET_HEADER + -(-elements * bits // 8)
    return _at_least(packed if bits else 4, data)


def _bzip2(nbytes: int, data: memoryview) -> str:
    decoder, size = bz2.BZ2Decompressor(), 0
    try:
        size = len(decoder.decompress(data, _PIECE))
        while not decoder.eof and not decoder.needs_input and size <= 2 * nbytes + _OVERHEAD:
            size += len(decoder.decompress(b"", _PIECE))
    except (OSError, EOFError) as error:
        return f"bzip2: {error}"
    if size > 2 * nbytes + _OVERHEAD:
        return f"bzip2 makes more than {size:,} bytes of it"
    return "" if decoder.eof else "it is truncated"


def _blosc(nbytes: int, data: memoryview) -> str:
    """Bytes decoded and stored are in a header of 16."""
    decoded, stored = (int.from_bytes(data[start : start + 4], "little") for start in (4, 12))
    if decoded > 2 * nbytes + _OVERHEAD:
        return f"blosc announces {decoded:,} bytes"
    return _at_least(max(16, stored), data)


def _blocks(nbytes: int, grain: int, data: memoryview) -> str:
    """Blocks, each after its number of bytes, and what is less than a grain as it is."""
    total, block = int.from_bytes(data[:8], "big"), int.from_bytes(data[8:_BLOCKS_HEADER], "big")
    if len(data) < _BLOCKS_HEADER or block <= 0 or block % grain or total > 2 * nbytes + _OVERHEAD:
        return "it has a damaged header of blocks"
    whole = total - total % grain
    place = _BLOCKS_HEADER
    for _ in range(-(-whole // block)):
        place += 4 + int.from_bytes(data[place : place + 4], "big")
        if place > len(data):
            break
    return _at_least(place + total % grain, data)
