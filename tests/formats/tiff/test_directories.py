import io
import struct
from collections.abc import Callable

import pytest
from tiff_by_hand import LONG, SHORT, Page, gray, page_link, write

from shadowzarr.errors import DamagedSourceError
from shadowzarr.formats.tiff.directories import Directories, form_of
from shadowzarr.refs.byte_range import FileRange

PIXELS = bytes(range(120))


def reader(data: bytes) -> Callable[[int, int], bytes]:
    return lambda length, offset: data[offset : offset + length]


def walked(data: bytes, **options: object) -> Directories:
    form = form_of(data[:4])
    assert form is not None
    found = Directories(reader(data), len(data), form, **options)
    found.walk()
    return found


def places(data: bytes, order: str = "<", big: bool = False) -> list[int]:
    """Where directories are."""
    link, found = (8 if big else 4), []
    place = "Q" if big else "L"
    while start := struct.unpack_from(f"{order}{place}", data, link)[0]:
        found.append(start)
        link = page_link(data, start, order, big)
    return found


def led_to(data: bytes, number: int, target: int) -> bytes:
    """The file with a directory that says the next one is elsewhere."""
    changed = bytearray(data)
    struct.pack_into("<L", changed, page_link(data, places(data)[number], "<", False), target)
    return bytes(changed)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("big", [False, True])
def test_a_chain_is_followed_to_its_end(order: str, big: bool) -> None:
    data = write([Page(gray(12, 10), [PIXELS])] * 7, order=order, big=big)
    found = walked(data)
    assert (found.count, found.broken) == (7, "")
    assert found.unlike_first(places(data, order, big)) is None


@pytest.mark.parametrize("head", [b"", b"II", b"PK\3\4", b"\x89HDF", b"II\0\0", b"MM*\0"])
def test_what_is_no_tiff_has_no_form(head: bytes) -> None:
    assert form_of(head) is None


@pytest.mark.parametrize("count", [1, 5, 120, 250])
def test_a_loop_is_found_wherever_it_begins(count: int) -> None:
    data = write([Page(gray(12, 10), [PIXELS])] * count)
    for target in {0, count // 2, count - 1}:
        with pytest.raises(DamagedSourceError, match=f"a loop: the one after number {count - 1}"):
            walked(led_to(data, count - 1, places(data)[target]))


def test_more_directories_than_fit_are_refused() -> None:
    """Directories that overlap could be as many as the file has bytes."""
    count = 60
    data = bytearray(8 + count)
    struct.pack_into("<2sHL", data, 0, b"II", 42, 8)
    form = form_of(bytes(data[:4]))
    assert form is not None

    def read(length: int, offset: int) -> bytes:  # each directory is empty and leads one byte on
        if offset == form.first:
            return struct.pack("<L", 8)[:length]
        return struct.pack("<HL", 0, offset + 1)[:length]

    with pytest.raises(DamagedSourceError, match="do not fit"):
        Directories(read, len(data), form).walk()


def test_a_chain_that_leads_out_of_the_file_is_broken() -> None:
    data = write([Page(gray(12, 10), [PIXELS])] * 4)
    found = walked(led_to(data, 2, 10**6))
    assert found.count == 3
    assert "page directory 3 would be at byte 1,000,000" in found.broken


def test_a_directory_past_the_end_is_broken() -> None:
    data = write([Page(gray(12, 10), [PIXELS])] * 4)
    last = places(data)[-1]
    assert "page directory 3 at byte" in walked(data[: last + 20]).broken
    assert walked(data[: last + 20]).count == 3
    cut_short = walked(data[: page_link(data, last, "<", False) + 2])
    assert "page directory 3 is cut short" in cut_short.broken
    assert cut_short.count == 4


def test_a_directory_of_too_many_tags_is_broken() -> None:
    data = bytearray(write([Page(gray(12, 10), [PIXELS])]))
    struct.pack_into("<H", data, places(bytes(data))[0], 5000)
    found = walked(bytes(data))
    assert (found.count, found.broken[:16]) == (0, "page directory 0")


@pytest.mark.parametrize(
    "other",
    [
        {259: 8},
        {317: 2},
        {258: (SHORT, 16)},
        {266: 2},
        {256: 10, 257: 12},
        {322: 16, 323: 16},
        {277: 2, 258: [8, 8]},
    ],
)
def test_a_page_stored_in_another_way_is_found(other: dict[int, object]) -> None:
    pages = [Page(gray(12, 10), [PIXELS])] * 9
    pages[5] = Page({**gray(12, 10), **other}, [PIXELS])
    data = write(pages)
    found = walked(data)
    assert found.unlike_first(places(data)) == 5
    assert found.unlike_first(places(data)[:5]) is None
    assert found.unlike_first(places(data)[5:]) == 1


def test_numbers_of_another_width_and_other_tags_are_alike() -> None:
    pages = [
        Page(gray(12, 10), [PIXELS]),
        Page({**gray(12, 10), 256: (LONG, 12)}, [PIXELS]),
        Page({**gray(12, 10), 270: "a comment", 305: "program"}, [PIXELS]),
        Page({**gray(12, 10), 262: 0}, [PIXELS]),  # what the values mean does not change them
    ]
    data = write(pages)
    assert walked(data).unlike_first(places(data)) is None


def test_colours_decide_how_jpeg_is_decoded() -> None:
    pages = [Page({**gray(12, 10), 259: 7}, [PIXELS]), Page({**gray(12, 10), 259: 7, 262: 0}, [PIXELS])]
    data = write(pages)
    assert walked(data).unlike_first(places(data)) == 1


def test_values_that_lie_elsewhere_are_compared_by_themselves() -> None:
    rgb = {**gray(12, 10), 258: [8, 8, 8], 277: 3, 262: 2}
    pages = [Page(rgb, [PIXELS * 3])] * 4 + [Page({**rgb, 258: [8, 8, 9]}, [PIXELS * 3])]
    data = write(pages)
    assert walked(data).unlike_first(places(data)) == 4


def test_pages_without_a_directory_are_passed_over() -> None:
    data = write([Page(gray(12, 10), [PIXELS])] * 3)
    assert walked(data).unlike_first([*places(data), 0, 0]) is None


def test_directories_beside_the_chain_are_looked_at_when_asked_for() -> None:
    data = write([Page(gray(12, 10), [PIXELS]), Page({**gray(12, 10), 259: 8}, [PIXELS])])
    one = led_to(data, 0, 0)
    found = walked(one)
    assert found.count == 1
    assert found.unlike_first(places(data)) == 1
    assert found.count == 1


def test_evenly_spaced_directories_are_asked_for_ahead() -> None:
    data = write([Page(gray(12, 10), [PIXELS * 40])] * 300)
    asked: list[list[FileRange]] = []
    walked(data, prefetch=lambda ranges: asked.append(list(ranges)))
    assert len(asked) == 1
    starts = [each.offset for each in asked[0]]
    assert starts[0] in places(data)[:4]
    assert set(starts) >= set(places(data)[4:])


def test_unevenly_spaced_directories_are_not() -> None:
    pages = [Page(gray(12, 10), [PIXELS + bytes(number % 7)]) for number in range(50)]
    asked: list[list[FileRange]] = []
    walked(write(pages), prefetch=lambda ranges: asked.append(list(ranges)))
    assert asked == []


def test_a_file_is_read_once_for_each_directory() -> None:
    data = write([Page(gray(12, 10), [PIXELS])] * 100)
    reads = io.StringIO()
    read = reader(data)

    def counted(length: int, offset: int) -> bytes:
        reads.write("x")
        return read(length, offset)

    form = form_of(data[:4])
    assert form is not None
    Directories(counted, len(data), form).walk()
    assert len(reads.getvalue()) <= 102
