"""How large a compressed chunk becomes, found before memory is taken for it. Pure.

Chunks in a document from elsewhere may be made to grow a thousandfold. Codecs that write the size into the
chunk are asked for it (Blosc's header, numcodecs' LZ4, RFC 8878 for zstd); the others are run up to a limit.
"""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SIZE = {0: ("", 0), 1: ("<H", 256), 2: ("<I", 0), 3: ("<Q", 0)}
"""How a frame's header has the size of its content, by the two bits that say so, and what is added."""

_ANY_ERROR = (Exception,)  # zlib.error, OSError, LZMAError, struct.error …


class _Decompressor(Protocol):
    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def is_larger(step: Mapping[str, Any], data: bytes, most: int) -> bool:
    """Whether decoding gives more bytes than that, or a number of bytes that cannot be told.

    Parameters
    ----------
    step : mapping
        A codec of numcodecs with its ``id``. One that is not known here does not make data larger.
    data : bytes
        What it encoded. Damaged data are not larger: who decodes them says what is wrong.
    most : int
        The limit.
    """
    try:
        match step["id"]:
            case "zlib":
                return _grows(zlib.decompressobj, data, most)
            case "gzip":
                return _grows(lambda: zlib.decompressobj(wbits=31), data, most)
            case "bz2":
                return _grows(bz2.BZ2Decompressor, data, most)
            case "lzma":
                return _grows(lambda: _lzma(step), data, most)
            case "blosc":
                return bool(struct.unpack_from("<I", data, 4)[0] > most)
            case "lz4":
                return bool(struct.unpack_from("<I", data)[0] > most)
            case "zstd":
                size = _zstd_size(data)
                return size is None or size > most
    except _ANY_ERROR:
        return False
    return False


def _grows(make: Callable[[], Any], data: bytes, most: int) -> bool:
    """Decode streams that follow each other, up to the limit."""
    found = 0
    while data:
        one: _Decompressor = make()
        found += len(one.decompress(data, most + 1 - found))
        if found > most:
            return True
        if not one.eof:
            return False
        data = one.unused_data
    return False


def _lzma(step: Mapping[str, Any]) -> lzma.LZMADecompressor:
    form = step.get("format") or lzma.FORMAT_XZ
    filters = step.get("filters") if form == lzma.FORMAT_RAW else None
    return lzma.LZMADecompressor(format=form, filters=filters)


def _zstd_size(data: bytes) -> int | None:
    """Bytes of what a frame holds; None when its header does not say (RFC 8878, 3.1.1.1)."""
    if data[:4] != _ZSTD_MAGIC:
        return 0  # no frame: whoever decodes it says so
    flags = data[4]
    is_single, dictionary = bool(flags & 0x20), (0, 1, 2, 4)[flags & 3]
    start = 5 + (0 if is_single else 1) + dictionary
    form, more = _ZSTD_SIZE[flags >> 6]
    if not form:
        return data[start] if is_single else None
    return int(struct.unpack_from(form, data, start)[0]) + more
