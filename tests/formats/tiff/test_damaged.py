"""Files that lie: refused, or read as tifffile reads them, in little memory and time."""

import resource
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from tiff_by_hand import Page, gray, page_link, write
from tiff_features import ome_set, ome_xml, smooth
from tiff_reading import ReadBack, assert_same

from shadowzarr.errors import DamagedSourceError, ShadowzarrError, UnsupportedError
from shadowzarr.formats.tiff.generate import generate_rfs_tiff

PIXELS = smooth(10, 12, dtype="u1")
STORED = PIXELS.tobytes()
PACKED = zlib.compress(STORED)
MEMORY = 256 * 2**20


@pytest.fixture(autouse=True)
def _little_memory() -> object:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MEMORY


def tried(path: Path) -> ReadBack | str:
    """References, opened, or by which message they are refused."""
    try:
        return ReadBack(path)
    except ShadowzarrError as error:
        return str(error)


def claimed(width: int, rows: int, **tags: object) -> bytes:
    return write([Page({**gray(width, rows), **{int(k[1:]): v for k, v in tags.items()}}, [STORED])])


CLAIMS = {
    "a strip of 4 GiB": claimed(65535, 65535, t259=8),
    "bytes that are not there": claimed(65535, 65535),
    "tiles without end": claimed(2**31 - 1, 2**31 - 1, t322=16, t323=16),
    "tiles of 2 GiB": claimed(100, 100, t322=2**16, t323=2**15, t259=8),
    "rows without end": claimed(12, 2**32 - 1, t278=1),
    "samples without end": claimed(12, 10, t277=65535),
    "a depth without end": claimed(12, 10, t32997=2**31),
    "a width of 0": claimed(0, 10),
    "rows of 0 in a strip": claimed(12, 10, t278=0),
    "tiles of 0": claimed(12, 10, t322=0, t323=0),
    "an ImageJ stack": claimed(12, 10, t270="ImageJ=1.11a\nimages=1000000000000\nframes=1000000000000\n"),
    "a stack of tifffile's": claimed(12, 10, t270='{"shape": [1000000000000, 10, 12]}'),
    "a negative stack": claimed(12, 10, t270='{"shape": [-1, 10, 12]}'),
    "OME planes": claimed(12, 10, t270=ome_xml(["a"], 0).replace('SizeZ="1"', 'SizeZ="1099511627776"')),
    "OME planes of a file": claimed(
        12, 10, t270=ome_xml(["a"], 0).replace('PlaneCount="1"', f'PlaneCount="{2**62}"')
    ),
    "MetaMorph planes": claimed(12, 10, t33628=[0, 0], t33629=(5, 3, bytes(72))),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_are_refused_or_read_as_tifffile_reads_them(path: Path, claim: str) -> None:
    path.write_bytes(CLAIMS[claim])
    back = tried(path)
    if isinstance(back, str):
        assert str(path) in back
        assert "\n" not in back
    else:
        assert_same(path, back, left_out=None)


def test_262_bytes_that_claim_3_tebibytes(shared: Path) -> None:
    with pytest.raises(UnsupportedError, match="holds 171,793,449,000 bytes"):
        generate_rfs_tiff(shared / "corpus" / "bad" / "libtiff_segfault.tif")


def test_every_truncation_is_refused_or_right(path: Path) -> None:
    tags = {**gray(12, 10), 259: 8}
    whole = write([Page({**tags, 270: "text"}, [zlib.compress((PIXELS + n).tobytes())]) for n in range(4)])
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        back = tried(path)
        if isinstance(back, str):
            assert str(path) in back, size
            continue
        assert back.skipped() or back["0"].shape[0] == 4, size
        assert_same(path, back)


def test_every_bit_may_be_wrong(path: Path) -> None:
    """Of a file with one bit changed, references are refused or give what tifffile gives."""
    parts = [STORED[start : start + 48] for start in (0, 48, 96)]
    plain = Page({**gray(12, 10), 278: 4}, [part + b"??" for part in parts], counts=[48, 48, 24])
    packed = Page({**gray(12, 10), 278: 4, 259: 8, 317: 2}, [zlib.compress(part) for part in parts])
    whole = write([plain, packed, plain, packed], data_first=False)
    random = np.random.default_rng(5)
    outcomes = {"refused": 0, "equal": 0}
    for place in random.integers(0, len(whole) * 8, 100).tolist():
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        back = tried(path)
        if isinstance(back, str):
            assert str(path) in back
            outcomes["refused"] += 1
            continue
        assert_same(path, back, left_out=None)
        outcomes["equal"] += 1
    assert min(outcomes.values()) > 3


@pytest.mark.parametrize(("first", "again"), [(0, 0), (150, 0), (150, 120), (150, 149)])
def test_a_chain_that_leads_into_itself(path: Path, first: int, again: int) -> None:
    data = bytearray(write([Page(gray(12, 10), [STORED])] * (first + 1)))
    path.write_bytes(data)
    with tifffile.TiffFile(path) as tif:
        places = [page.offset for page in tif.pages]
    struct.pack_into("<L", data, page_link(data, places[-1], "<", False), places[again])
    path.write_bytes(data)
    with pytest.raises(DamagedSourceError, match=r"file.tif is damaged: its page directories form a loop"):
        generate_rfs_tiff(path)


def test_a_loop_in_another_file_of_a_set(path: Path) -> None:
    ome_set(path)
    other = path.with_name("other1.ome.tif")
    tags = {**gray(30, 20, 16), 270: ome_xml([path.name, other.name, "other2.ome.tif"], 1)}
    data = bytearray(write([Page(tags, [bytes(1200)]), *[Page(gray(30, 20, 16), [bytes(1200)])] * 150]))
    other.write_bytes(data)
    with tifffile.TiffFile(other) as tif:
        places = [page.offset for page in tif.pages]
    struct.pack_into("<L", data, page_link(data, places[-1], "<", False), places[120])
    other.write_bytes(data)
    with pytest.raises(DamagedSourceError, match=r"other1.ome.tif is damaged: .* form a loop"):
        generate_rfs_tiff(path)


@pytest.mark.parametrize("number", [1, 4, 7, 9])
@pytest.mark.parametrize(
    "other",
    [
        Page({**gray(12, 10), 259: 8}, [PACKED]),
        Page({**gray(12, 10), 317: 2}, [STORED]),
        Page({**gray(12, 10), 266: 2}, [STORED]),
        Page({**gray(6, 10, 16)}, [STORED]),
    ],
)
def test_a_page_that_is_stored_in_another_way(path: Path, number: int, other: Page) -> None:
    """tifffile looks at some pages, and reads all others as it reads the first."""
    listed = [Page(gray(12, 10), [(PIXELS + n).tobytes()]) for n in range(11)]
    listed[number] = other
    path.write_bytes(write(listed))
    back = tried(path)
    if isinstance(back, str):
        assert f"page {number} of it is stored in another way" in back or "incompatible" in back
        return
    with tifffile.TiffFile(path) as tif:
        assert len(tif.series) == 2  # it did notice
    assert_same(path, back, left_out=None)


def test_a_page_whose_strips_are_apart_when_those_of_the_first_are_not(path: Path) -> None:
    tags = {**gray(12, 10), 278: 5}
    parts = [STORED[:60], STORED[60:]]
    apart = Page(tags, [parts[0] + b"??????", parts[1]], counts=[60, 60])
    path.write_bytes(write([Page(tags, parts), *[Page(tags, parts)] * 4, apart, *[Page(tags, parts)] * 5]))
    with pytest.raises(UnsupportedError, match="page 5 of it is not in one piece"):
        generate_rfs_tiff(path)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (Page(gray(12, 10), [STORED], offsets=[10**6]), "bytes 1,000,000 to 1,000,120 of a file of"),
        (Page({**gray(12, 10), 259: 8}, [PACKED], offsets=[10**6]), "lies past the end of the file"),
        (Page({**gray(12, 10), 259: 8}, [PACKED], counts=[10**6]), "lies past the end of the file"),
        (Page(gray(12, 10), [], offsets=[0], counts=[0]), "a page has no place in the file"),
        (Page({**gray(12, 10), 259: 8}, [b"no deflate stream"]), "cannot decode segment 0 of page 0"),
        (Page({**gray(12, 10), 259: 9}, [STORED]), "tifffile cannot decode segment 0"),
        (Page({**gray(12, 10), 317: 99, 259: 8}, [PACKED]), "tifffile cannot decode segment 0"),
        (
            Page({**gray(12, 10), 278: 4}, [STORED[:48], b"?", STORED[48:]], [8, 57, 97], [48, 40, 24]),
            "has 40 bytes, its values need 48",
        ),
    ],
)  # fmt: skip
def test_bytes_that_are_not_there(path: Path, page: Page, reason: str) -> None:
    path.write_bytes(write([page]))
    with pytest.raises(UnsupportedError, match=reason):
        generate_rfs_tiff(path)


@pytest.mark.parametrize("place", [2**63, 2**64 - 1, 10**6])
def test_places_of_directories_that_no_file_has(path: Path, place: int) -> None:
    data = bytearray(b"II" + struct.pack("<HHHQ", 43, 8, 0, place) + bytes(64))
    path.write_bytes(data)
    with pytest.raises(DamagedSourceError):
        generate_rfs_tiff(path)
    data = bytearray(b"II" + struct.pack("<HHHQ", 43, 8, 0, 16))
    data += struct.pack("<QHHQQQ", 1, 273, 16, 5, place, 0)
    path.write_bytes(data)
    with pytest.raises(ShadowzarrError):
        generate_rfs_tiff(path)


def test_pixels_of_0_samples_are_never_read_as_missing(check: Callable[..., ReadBack]) -> None:
    """tifffile reads them as pixels of one sample, though nothing has 0 bytes."""
    tags = {**gray(12, 10), 277: 0, 278: 10}
    back = check(write([Page(tags, [STORED])]))
    assert "0 samples" in back.rfs["converted"][0]["what"]


def test_fractions_as_places_are_refused(path: Path) -> None:
    data = bytearray(write([Page({**gray(12, 10), 278: 4}, [STORED[:48], STORED[48:96], STORED[96:]])]))
    at = data.index(struct.pack("<HHL", 273, 4, 3))
    struct.pack_into("<HHL", data, at, 273, 11, 3)  # the type FLOAT: integers become tiny numbers
    path.write_bytes(data)
    with pytest.raises(UnsupportedError, match="at no place in a file"):
        generate_rfs_tiff(path)


def test_more_bytes_than_values_need_are_left_away(check: Callable[..., ReadBack]) -> None:
    parts = [STORED[:48], STORED[48:96], STORED[96:]]
    page = Page({**gray(12, 10), 278: 4}, [part + b"?" * 9 for part in parts])
    back = check(write([page]))
    assert [chunk[2] for chunk in back.chunks().values()] == [48, 48, 24]


def test_a_stream_of_more_rows_than_a_strip_has_is_never_wrong(path: Path) -> None:
    parts = [zlib.compress(STORED), zlib.compress(STORED[60:])]
    path.write_bytes(write([Page({**gray(12, 10), 278: 5, 259: 8}, parts)]))
    with pytest.raises(UnsupportedError, match="tifffile cannot decode segment 0"):
        generate_rfs_tiff(path)
