"""TIFF files written by hand: what no writer writes, with every offset under the test's control."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

BYTE, ASCII, SHORT, LONG, UNDEFINED, LONG8 = 1, 2, 3, 4, 7, 16
_LETTERS = {SHORT: "H", LONG: "L", LONG8: "Q"}


@dataclass
class Page:
    """One page directory.

    ``tags`` are numbers, lists of numbers, text or bytes by tag; a pair (type, value) where the type matters,
    and (type, count, bytes) where the count does.
    ``segments`` are the strips, or the tiles when there is a tag 322; ``offsets`` and ``counts`` replace what
    is true of them.
    """

    tags: Mapping[int, Any] = field(default_factory=dict)
    segments: Sequence[bytes] = ()
    offsets: Sequence[int] | None = None
    counts: Sequence[int] | None = None
    next: int | None = None


def gray(width: int, rows: int, bits: int = 8) -> dict[int, Any]:
    """Tags of one sample for each pixel."""
    return {256: width, 257: rows, 258: (SHORT, bits), 259: (SHORT, 1), 262: (SHORT, 1), 277: (SHORT, 1)}


def write(pages: Sequence[Page], *, order: str = "<", big: bool = False, data_first: bool = True) -> bytes:
    """The bytes of a file: for each page its segments, then its directory (or the other way round)."""
    place, entry, inline = ("Q", 20, 8) if big else ("L", 12, 4)
    mark = b"II" if order == "<" else b"MM"
    head = mark + (struct.pack(f"{order}HHH", 43, 8, 0) if big else struct.pack(f"{order}H", 42))
    out = bytearray(head + bytes(inline))
    link = len(head)
    for page in pages:
        if data_first:
            offsets = _put(out, page.segments)
            start = _directory(out, page, offsets, order, place, entry, inline)
        else:
            size = _directory_size(page, order, entry, inline)
            offsets, position = [], len(out) + size
            for segment in page.segments:
                offsets.append(position)
                position += len(segment)
            start = _directory(out, page, offsets, order, place, entry, inline)
            assert len(out) == start + size
            _put(out, page.segments)
        struct.pack_into(f"{order}{place}", out, link, start)
        link = page_link(out, start, order, big)
        if page.next is not None:
            struct.pack_into(f"{order}{place}", out, link, page.next)
    return bytes(out)


def page_link(out: bytes | bytearray, start: int, order: str, big: bool) -> int:
    """Where the directory at ``start`` says where the next one is."""
    (count,) = struct.unpack_from(f"{order}{'Q' if big else 'H'}", out, start)
    return start + (8 + 20 * count if big else 2 + 12 * count)


def _put(out: bytearray, segments: Sequence[bytes]) -> list[int]:
    offsets = []
    for segment in segments:
        offsets.append(len(out))
        out += segment
    return offsets


def _tags(page: Page, offsets: Sequence[int], big: bool) -> dict[int, tuple[int, int, bytes]]:
    is_tiled = 322 in page.tags
    long = LONG8 if big else LONG
    tags = {
        **page.tags,
        324 if is_tiled else 273: (long, list(page.offsets if page.offsets is not None else offsets)),
        325 if is_tiled else 279: (
            long,
            list(page.counts if page.counts is not None else map(len, page.segments)),
        ),
    }
    if not is_tiled and 278 not in tags:
        tags[278] = tags[257]
    return dict(sorted(tags.items()))


def _entries(page: Page, offsets: Sequence[int], order: str, big: bool) -> dict[int, tuple[int, int, bytes]]:
    return {code: _packed(value, order) for code, value in _tags(page, offsets, big).items()}


def _packed(value: Any, order: str) -> tuple[int, int, bytes]:
    if isinstance(value, tuple) and len(value) == 3:
        return value
    kind, value = value if isinstance(value, tuple) else (None, value)
    if isinstance(value, str):
        value, kind = value.encode() + b"\0", ASCII
    if isinstance(value, bytes):
        return kind or UNDEFINED, len(value), value
    numbers = value if isinstance(value, list) else [value]
    kind = kind or (SHORT if max(numbers, default=0) < 2**16 else LONG)
    return kind, len(numbers), struct.pack(f"{order}{len(numbers)}{_LETTERS[kind]}", *numbers)


def _directory_size(page: Page, order: str, entry: int, inline: int) -> int:
    entries = _entries(page, [0] * len(page.segments), order, entry == 20)
    outer = sum(len(data) for _, _, data in entries.values() if len(data) > inline)
    return (8 if entry == 20 else 2) + entry * len(entries) + inline + outer


def _directory(
    out: bytearray, page: Page, offsets: Sequence[int], order: str, place: str, entry: int, inline: int
) -> int:
    big = entry == 20
    entries = _entries(page, offsets, order, big)
    start = len(out)
    heap_start = start + (8 if big else 2) + entry * len(entries) + inline
    heap = bytearray()
    out += struct.pack(f"{order}{'Q' if big else 'H'}", len(entries))
    for code, (kind, count, data) in entries.items():
        out += struct.pack(f"{order}HH{'Q' if big else 'L'}", code, kind, count)
        if len(data) > inline:
            out += struct.pack(f"{order}{place}", heap_start + len(heap))
            heap += data
        else:
            out += data.ljust(inline, b"\0")
    out += bytes(inline) + heap
    return start
