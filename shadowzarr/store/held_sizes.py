"""What chunks that a document holds take when they are decoded, found without decoding them. Pure.

A few kilobytes of a document can stand for gigabytes, and zarr's codecs allocate what the bytes claim before
anybody sees that the array has no chunk of that size. Read are the frames of Zstandard (RFC 8878, section
3.1.1), the header of Blosc 1 (c-blosc, README_CHUNK_FORMAT), and Deflate by inflating piece by piece.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..errors import InvalidReferencesError
from ..refs.chunk_key import metadata_key
from ..refs.data_types import item_nbytes
from ..refs.node_checks import codec_name
from .locate import ChunkId

_ROOM: Final = 2**20
"""Bytes beyond twice the size of a chunk: checksums, headers, and what an upper bound is too high by."""
_LARGEST_OF_UNKNOWN: Final = 2**28
"""Bytes that a chunk may have whose elements have no fixed size."""
_BLOCK: Final = 128 * 1024  # most bytes that a block of Zstandard stands for
_ZSTD_MAGIC: Final = 0xFD2FB528
_SKIPPABLE: Final = range(0x184D2A50, 0x184D2A60)
_MOST_BY_DEFLATE: Final = 1032  # bytes that a byte of Deflate stands for at most
_CHECKSUMS: Final = frozenset({"crc32c"})
_PIECE: Final = 64 * 1024


class HeldChunks:
    """Looks at chunks that a document holds before anybody decodes them.

    Parameters
    ----------
    metadata_of : callable
        The ``zarr.json`` of an array by its key, checked.
    """

    def __init__(self, metadata_of: Callable[[str], Mapping[str, Any]]) -> None:
        self._metadata_of = metadata_of
        self._known: dict[str, tuple[str, int]] = {}

    def check(self, data: bytes, chunk: ChunkId) -> None:
        """Refuse a chunk that decodes to much more than a chunk of its array is.

        Looked at is the codec that is undone first, after checksums: zstd, blosc, gzip or zlib. What others
        give is not known.

        Raises
        ------
        InvalidReferencesError
            With the chunk, and what it would take.
        """
        if chunk.path not in self._known:
            metadata = self._metadata_of(metadata_key(chunk.path))
            self._known[chunk.path] = _outermost(metadata["codecs"]), _limit(metadata)
        codec, limit = self._known[chunk.path]
        if _is_more(data, codec, limit):
            raise InvalidReferencesError(
                f"{chunk}, held in the document in {len(data):,} bytes, would be more than {limit:,} bytes "
                "when it is decoded, which no chunk of this array is"
            )


def refuse_large(data: bytes, metadata: Mapping[str, Any]) -> None:
    """Refuse one chunk of any array, as `HeldChunks.check` does.

    Raises
    ------
    ValueError
        When it decodes to much more than a chunk of the array is.
    """
    limit = _limit(metadata)
    if _is_more(data, _outermost(metadata["codecs"]), limit):
        raise ValueError(f"{len(data):,} bytes would be more than {limit:,} when they are decoded")


def _is_more(data: bytes, codec: str, limit: int) -> bool:
    return codec in _SIZES and _SIZES[codec](data, limit) > limit


def _outermost(codecs: Sequence[Any]) -> str:
    """The codec that is undone first, but for checksums at the end of a chunk."""
    names = [codec_name(codec).removeprefix("numcodecs.") for codec in codecs]
    return next((name for name in reversed(names) if name not in _CHECKSUMS), "")


def _limit(metadata: Mapping[str, Any]) -> int:
    grid = metadata["chunk_grid"]
    try:
        itemsize = item_nbytes(metadata["data_type"])
        edges = grid["configuration"]["chunk_shape"] if grid["name"] == "regular" else metadata["shape"]
        return 2 * math.prod(edges) * itemsize + _ROOM if itemsize else _LARGEST_OF_UNKNOWN
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        return _LARGEST_OF_UNKNOWN


def zstd_size(data: bytes, _limit: int = 0) -> int:
    """Bytes that frames of Zstandard stand for: what they say, or at most; what is none counts nothing."""
    total = at = 0
    while at + 4 <= len(data):
        magic = _number(data, at, 4)
        if magic in _SKIPPABLE:
            at += 8 + _number(data, at + 4, 4)
        elif magic == _ZSTD_MAGIC:
            size, at = _frame(data, at + 4)
            total += size
        else:
            break
    return total


def _frame(data: bytes, at: int) -> tuple[int, int]:
    """What a frame stands for, and where it ends; ``at`` is after its magic number."""
    descriptor = _number(data, at, 1)
    is_single = bool(descriptor & 0x20)
    digits = (1 if is_single else 0, 2, 4, 8)[descriptor >> 6]
    content = at + 1 + (not is_single) + (0, 1, 2, 4)[descriptor & 3]
    claimed = _number(data, content, digits) + (256 if digits == 2 else 0)
    at, blocks, is_last = content + digits, 0, False
    while not is_last and at + 3 <= len(data):
        header = _number(data, at, 3)
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        blocks += _BLOCK if kind == 2 else size
        at += 3 + (1 if kind == 1 else size)
    at += 4 if descriptor & 4 else 0
    return max(claimed, 0) if digits else blocks, at


def _blosc_size(data: bytes, _limit: int) -> int:
    return _number(data, 4, 4)


def _deflated_size(data: bytes, limit: int) -> int:
    """Bytes that Deflate stands for, as far as they are within the limit."""
    if len(data) * _MOST_BY_DEFLATE <= limit:
        return 0
    total, rest = 0, data
    while rest and total <= limit:
        stream = zlib.decompressobj(47)  # with the header of zlib or gzip
        try:
            while not stream.eof and total <= limit:
                piece = stream.decompress(rest, _PIECE)
                total, rest = total + len(piece), stream.unconsumed_tail
                if not piece and not rest:
                    return total
        except zlib.error:
            return total  # the codec says what is wrong
        rest = stream.unused_data or rest
    return total


def _number(data: bytes, at: int, nbytes: int) -> int:
    return int.from_bytes(data[at : at + nbytes], "little")


_SIZES: Final[Mapping[str, Callable[[bytes, int], int]]] = {
    "zstd": zstd_size,
    "blosc": _blosc_size,
    "gzip": _deflated_size,
    "zlib": _deflated_size,
}
