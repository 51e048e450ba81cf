"""What is wrong with a filter's client data values, before HDF5 believes them.

In references they are text that anybody can have written. HDF5 checks some of them, divides by others and
allocates what they say. Required here is what HDF5 itself writes (``H5Pset_*`` and ``set_local`` of each
filter); values that a filter does not look at, and plug-ins whose values are not ours to know, pass.
"""

from __future__ import annotations

from collections.abc import Callable

from .names import BITSHUFFLE, DEFLATE, LZF, NBIT, SCALEOFFSET, SHUFFLE, SZIP
from .nbit import BadTypeError, is_packed, packing

Values = tuple[int, ...]

_MOST_PIXELS, _MOST_BLOCKS = 32, 128  # of a block, and blocks of a scanline: szlib.h
_SCALEOFFSET_VALUES = 20
_D_SCALE, _INTEGER_SCALE = 0, 2
_SIZES = {0: (1, 2, 4, 8), 1: (4, 8)}  # of integers, of floats


def bad_values(number: int, values: Values, nbytes: int) -> str:
    """Say what is wrong with the values of a filter, if anything.

    Parameters
    ----------
    number : int
        The filter.
    values : tuple of int
        Its client data values.
    nbytes : int
        Bytes of the decoded chunk.
    """
    check = _CHECKS.get(number)
    return check(values, nbytes) if check else ""


def unpadded_szip(values: Values, nbytes: int) -> tuple[Values, int] | None:
    """The same stream as szip that pads no lines: its values, and the bytes it decodes to.

    None for szip whose lines are whole blocks of pixels, which needs no padding.
    """
    mask, pixels, bits, scanline = values
    if scanline % pixels == 0:
        return None
    # Pixels of 32 and 64 bits are stored byte by byte: all first bytes, all second ones.
    size = 1 if bits <= 8 or bits > 24 else 2 if bits <= 16 else 4
    lines = -(-nbytes // (size * scanline))
    whole = -(-scanline // pixels) * pixels
    return (mask, pixels, 8 if bits > 24 else bits, whole), lines * whole * size


def _deflate(values: Values, _: int) -> str:
    return "" if len(values) == 1 and values[0] <= 9 else "it has one value, the level from 0 to 9"


def _shuffle(values: Values, _: int) -> str:
    return "" if len(values) == 1 and values[0] else "it has one value, the bytes of an element"


def _szip(values: Values, _: int) -> str:
    if len(values) != 4:
        return "it has four values"
    mask, pixels, bits, scanline = values
    if mask > 255:
        return f"{mask} is no set of options"
    if pixels % 2 or not 2 <= pixels <= _MOST_PIXELS:
        return f"{pixels} pixels in a block; even numbers up to {_MOST_PIXELS} are possible"
    if not 1 <= bits <= 24 and bits not in (32, 64):
        return f"{bits} bits in a pixel; 1 to 24, 32 and 64 are possible"
    if not pixels <= scanline <= pixels * _MOST_BLOCKS:
        return f"{scanline} pixels in a scanline; {pixels} to {pixels * _MOST_BLOCKS} are possible"
    return ""


def _nbit(values: Values, nbytes: int) -> str:
    if not is_packed(values):
        return "" if values and values[0] == len(values) else "it does not tell the number of its values"
    try:
        element = packing(values)
    except BadTypeError as error:
        return str(error)
    return _whole(values[2], element.size, nbytes)


def _scaleoffset(values: Values, nbytes: int) -> str:
    if len(values) != _SCALEOFFSET_VALUES:
        return f"it has {_SCALEOFFSET_VALUES} values"
    method, factor, elements, kind, size, sign, order, has_fill = values[:8]
    if kind not in _SIZES or size not in _SIZES[kind]:
        return f"no number has class {kind} and {size} bytes"
    if method != (_D_SCALE if kind else _INTEGER_SCALE):
        return f"the method {method} is not for numbers of class {kind}"
    if order > 1 or has_fill > 1 or (kind == 0 and sign > 1):
        return f"byte order {order}, sign {sign}, fill value {has_fill}: 0 or 1 are possible"
    if kind == 0 and 8 * size < factor < 2**31:  # a negative one counts as 0
        return f"{factor} bits of a number of {size} bytes"
    return _whole(elements, size, nbytes)


def _lzf(values: Values, nbytes: int) -> str:
    """The third value, when there is one, is the number of bytes that are allocated."""
    size = values[2] if len(values) > 2 else 0
    return f"it is set up for chunks of {size:,} bytes" if size > 2 * nbytes + 64 else ""


def _bitshuffle(values: Values, _: int) -> str:
    return "" if len(values) > 2 and values[2] else "its third value is the bytes of an element"


def _whole(elements: int, size: int, nbytes: int) -> str:
    """The filter allocates so much without a further look, whatever it gets."""
    total = elements * size
    return "" if total == nbytes else f"it is set up for chunks of {total:,} bytes"


_CHECKS: dict[int, Callable[[Values, int], str]] = {
    DEFLATE: _deflate,
    SHUFFLE: _shuffle,
    SZIP: _szip,
    NBIT: _nbit,
    SCALEOFFSET: _scaleoffset,
    LZF: _lzf,
    BITSHUFFLE: _bitshuffle,
}
