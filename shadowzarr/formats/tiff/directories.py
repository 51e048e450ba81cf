"""The chain of page directories, walked before tifffile opens a file.

tifffile follows a chain that leads into itself until memory ends (it looks for a loop at the hundredth
directory only), and reads every directory after a series' first as if it said the same. So each is looked
at once here: chains that do not end are refused, and pages that store their pixels unlike others are told
apart.

TIFF revision 6.0, section 2: a directory is a count, entries of 12 bytes sorted by tag, and the place of the
next directory. BigTIFF has 8 bytes for a count and a place and 20 for an entry; NDPI has 8 for a place.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from ...errors import DamagedSourceError
from ...refs.byte_range import FileRange

_MOST_TAGS: Final = 4096
_LAYOUT_TAGS: Final = frozenset(
    {256, 257, 258, 259, 262, 266, 277, 278, 284, 292, 317, 322, 323, 338, 339, 530, 32997, 32998}
)
"""Width to TileDepth: what decides how the bytes of a page become its values."""
_COLOUR_TAGS: Final = frozenset({262, 338, 530})
_JPEG: Final = frozenset({6, 7, 33007, 34892})
_INTEGERS: Final = {1: "B", 3: "H", 4: "L", 13: "L", 16: "Q", 18: "Q"}
_SIZES: Final = {
    1: 1,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    6: 1,
    7: 1,
    8: 2,
    9: 4,
    10: 8,
    11: 4,
    12: 8,
    13: 4,
    16: 8,
    17: 8,
    18: 8,
}

_FIRST_READ: Final = 512
_AHEAD: Final = 512
"""Directories of a remote file that are asked for at once when those before were evenly spaced."""

ReadAt = Callable[[int, int], bytes]
"""Reads so many bytes (first) from an offset (second) on, as `os.pread` does; fewer at the file's end."""

Prefetch = Callable[[Sequence[FileRange]], None]
"""Reads ranges in one parallel round and keeps them."""

Layout = tuple[tuple[int, tuple[int, ...] | bytes], ...]
"""Tags that decide how pixels are stored, with their values."""


@dataclass(frozen=True, slots=True)
class DirectoryForm:
    """How the directories of a file are laid out.

    Attributes
    ----------
    order : {"<", ">"}
        Byte order.
    count : struct.Struct
        The number of entries.
    entry : int
        Bytes of an entry.
    place : struct.Struct
        The offset of a directory.
    inline : int
        Bytes of a value that an entry holds itself.
    first : int
        Where the offset of the first directory is.
    """

    order: str
    count: struct.Struct
    entry: int
    place: struct.Struct
    inline: int
    first: int


def form_of(head: bytes, *, is_ndpi: bool = False) -> DirectoryForm | None:
    """How directories are laid out, by the first 4 bytes of a file; None when it is no TIFF."""
    order = {b"II": "<", b"EP": "<", b"MM": ">"}.get(head[:2])
    if order is None or len(head) < 4:
        return None
    (version,) = struct.unpack_from(f"{order}H", head, 2)
    if version == 43:
        return _form(order, "Q", 20, "Q", 8, 8)
    if version not in (42, 0x4352, 0x4E31, 0x55, 0x4F52, 0x5352):  # with those of raw formats of cameras
        return None
    return _form(order, "H", 12, "Q" if is_ndpi and order == "<" else "L", 4, 4)


def _form(order: str, count: str, entry: int, place: str, inline: int, first: int) -> DirectoryForm:
    return DirectoryForm(
        order, struct.Struct(order + count), entry, struct.Struct(order + place), inline, first
    )


@dataclass(frozen=True, slots=True)
class _Template:
    """Where directories with the same tags in the same order have what decides.

    Attributes
    ----------
    stop : int
        Where their entries end, counted from their beginning.
    need : int
        Bytes of one, with the place of the next.
    count : bytes
        How they begin.
    pick : callable
        Cuts all tags, and the values of those that decide, out of the bytes of one.
    outer : tuple of int
        Entries that decide, but hold only where their value is.
    """

    stop: int
    need: int
    count: bytes
    pick: Callable[[bytes], tuple[bytes, ...]]
    outer: tuple[int, ...]


class Directories:
    """The page directories of one file.

    Parameters
    ----------
    read : callable
        Reads the file.
    size : int
        Its bytes.
    form : DirectoryForm
        How directories are laid out.
    prefetch : callable, optional
        Reads ranges of a remote file ahead.

    Attributes
    ----------
    count : int
        Directories of the chain.
    broken : str
        Why the chain ends before its end; empty when it does not.
    """

    def __init__(
        self, read: ReadAt, size: int, form: DirectoryForm, *, prefetch: Prefetch | None = None
    ) -> None:
        self._read, self._size, self._form = read, size, form
        self._prefetch = prefetch
        self._kinds: dict[int, int] = {}
        self._by_bytes: dict[tuple[bytes, ...], int] = {}
        self._layouts: dict[Layout, int] = {}
        self._templates: dict[bytes, _Template] = {}
        self._last: _Template | None = None
        self._length = _FIRST_READ
        self.count = 0
        self.broken = ""

    def walk(self) -> None:
        """Follow the chain of directories from the first to the last.

        A directory like one before it is dealt with here, without a call: there may be a million.

        Raises
        ------
        DamagedSourceError
            When it leads into itself, or has more directories than fit into the file.
        """
        form, known, kinds, read, size = self._form, self._kinds, self._by_bytes, self._read, self._size
        next_of, head = form.place.unpack_from, form.count.size
        (offset,) = form.place.unpack(read(form.place.size, form.first).ljust(form.place.size, b"\0"))
        most = size // (form.count.size + form.entry + form.place.size) + 1
        previous, step, ahead = 0, 0, 0
        while offset:
            if offset in known or len(known) > most:
                raise self._endless(offset, most)
            if self._prefetch is not None:
                if offset - previous == step and offset > ahead:
                    ahead = self._read_ahead(offset, step)
                previous, step = offset, offset - previous
            like = self._last
            if like is not None:
                data = read(like.need, offset)
                if len(data) == like.need and data[:head] == like.count:
                    kind = kinds.get(like.pick(data))
                    following = next_of(data, like.stop)[0]
                    if kind is not None and following < size:
                        known[offset] = kind
                        offset = following
                        continue
            offset, self.broken = self._visit(offset, len(known))
        self.count = len(known)

    def unlike_first(self, offsets: Iterable[int]) -> int | None:
        """Find a page that stores its pixels in another way than the first.

        Parameters
        ----------
        offsets : iterable of int
            Where the directories of pages are; 0 for a page that has none.

        Returns
        -------
        int or None
            The number of the first such page; None when all are alike.
        """
        places = list(offsets)
        if not self._kinds.keys() >= set(places):
            for place in places:
                if place > 0 and place not in self._kinds:
                    self._visit(place, 0)
        kinds = list(map(self._kinds.get, places))
        told = [kind for kind in dict.fromkeys(kinds) if kind is not None]
        return kinds.index(told[1]) if len(told) > 1 else None

    def _endless(self, offset: int, most: int) -> DamagedSourceError:
        if offset not in self._kinds:
            return DamagedSourceError(f"it has more than {most:,} page directories, which do not fit in it")
        return DamagedSourceError(
            f"its page directories form a loop: the one after number {len(self._kinds) - 1} is at byte "
            f"{offset:,}, as one before it"
        )

    def _visit(self, offset: int, number: int) -> tuple[int, str]:
        """Look at one directory; gives the place of the next one, and why the chain breaks where it does."""
        form = self._form
        data = self._read(self._length, offset) if offset < self._size else b""  # it may be no offset
        count = form.count.unpack_from(data)[0] if len(data) >= form.count.size else _MOST_TAGS + 1
        stop = form.count.size + form.entry * count
        if count <= _MOST_TAGS and stop + form.place.size > len(data):
            self._length = max(self._length, stop + form.place.size)
            data = self._read(self._length, offset)
        if count > _MOST_TAGS or stop > len(data):
            return 0, (
                f"page directory {number} at byte {offset:,} is damaged or lies past the end of the file "
                f"({self._size:,} bytes)"
            )
        self._kinds[offset] = self._kind(data, stop)
        if stop + form.place.size > len(data):
            return 0, f"page directory {number} is cut short by the end of the file ({self._size:,} bytes)"
        (following,) = form.place.unpack_from(data, stop)
        if following >= self._size:
            return 0, (
                f"page directory {number + 1} would be at byte {following:,}, past the end of the file "
                f"({self._size:,} bytes)"
            )
        return int(following), ""

    def _read_ahead(self, offset: int, step: int) -> int:
        """Ask for directories where they would be if they went on as before; gives the last such place."""
        places = range(offset, min(self._size, offset + _AHEAD * step), step) if step > 0 else range(0)
        if self._prefetch is None or len(places) < 2:
            return offset
        self._prefetch([FileRange(place, min(2 * self._length, self._size - place)) for place in places])
        return places[-1]

    def _kind(self, data: bytes, stop: int) -> int:
        """The number of the way in which a page is stored: the same for pages that are alike."""
        start, entry = self._form.count.size, self._form.entry
        codes = data[:start] + data[start:stop:entry] + data[start + 1 : stop : entry]
        template = self._templates.get(codes)
        if template is None:
            template = self._templates[codes] = self._template(data, stop)
        self._last = None if template.outer else template
        key = template.pick(data)
        if template.outer:
            key += tuple(self._outer_value(data, place) for place in template.outer)
        kind = self._by_bytes.get(key)
        if kind is None:
            layout = self._layout(data, stop)
            kind = self._by_bytes[key] = self._layouts.setdefault(layout, len(self._layouts))
        return kind

    def _template(self, data: bytes, stop: int) -> _Template:
        form = self._form
        first, head = form.count.size, form.entry - form.inline
        pieces = [slice(first, stop, form.entry), slice(first + 1, stop, form.entry)]
        outer: list[int] = []
        for place in range(first, stop, form.entry):
            code, kind, count = self._entry(data, place)
            if code not in _LAYOUT_TAGS:
                continue
            is_outer = count * _SIZES.get(kind, 1) > form.inline
            if is_outer:
                outer.append(place)
            pieces.append(slice(place, place + (head if is_outer else form.entry)))
        return _Template(stop, stop + form.place.size, data[:first], itemgetter(*pieces), tuple(outer))

    def _layout(self, data: bytes, stop: int) -> Layout:
        """What a directory says of how its pixels are stored; numbers of any width are the same numbers."""
        values: dict[int, tuple[int, ...] | bytes] = {}
        for place in range(self._form.count.size, stop, self._form.entry):
            code, kind, count = self._entry(data, place)
            if code not in _LAYOUT_TAGS:
                continue
            raw = self._value(data, place, kind, count)
            letter = _INTEGERS.get(kind)
            is_whole = letter is not None and len(raw) == count * _SIZES[kind]
            values[code] = struct.unpack(f"{self._form.order}{count}{letter}", raw) if is_whole else raw
        if values.get(259) not in {(number,) for number in _JPEG}:
            values = {code: value for code, value in values.items() if code not in _COLOUR_TAGS}
        return tuple(sorted(values.items()))

    def _entry(self, data: bytes, place: int) -> tuple[int, int, int]:
        """Tag, type and number of values of an entry."""
        order = self._form.order
        code, kind = struct.unpack_from(f"{order}HH", data, place)
        (count,) = struct.unpack_from(f"{order}{'Q' if self._form.entry == 20 else 'L'}", data, place + 4)
        return code, kind, count

    def _value(self, data: bytes, place: int, kind: int, count: int) -> bytes:
        nbytes = count * _SIZES.get(kind, 1)
        if nbytes <= self._form.inline:
            start = place + self._form.entry - self._form.inline
            return data[start : start + nbytes]
        return self._outer_value(data, place)

    def _outer_value(self, data: bytes, place: int) -> bytes:
        """A value that lies elsewhere; of one that is too long to be of these tags, where it lies."""
        _, kind, count = self._entry(data, place)
        form = self._form
        where = "Q" if form.inline == 8 else "L"
        (offset,) = struct.unpack_from(f"{form.order}{where}", data, place + form.entry - form.inline)
        nbytes = count * _SIZES.get(kind, 1)
        if nbytes > 8 * _MOST_TAGS:
            return struct.pack("<Q", offset)
        return self._read(nbytes, offset) if offset < self._size else b""
