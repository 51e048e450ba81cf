# ruff: noqa: E501 - a table
"""Every feature of TIFF, one by one: how it is stored, that it reads as tifffile reads it, and the page of it.

Each row writes a small file, makes references and compares every level with tifffile. How it is stored is
read from the references, and docs/tiff.md shows it; ``make docs-tables`` writes the page anew.
"""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from tiff_by_hand import SHORT, Page, gray
from tiff_features import (
    COMPRESSIONS,
    COPIED,
    LAYOUTS,
    LEFT,
    SERIES,
    VALUES,
    Feature,
    Words,
    bits,
    broken_chain,
    by_hand,
    deflated,
    gel,
    imwrite,
    in_turns,
    lsm,
    ome_set,
    packed,
    pages,
    pyramid,
    reversed_bits,
    scanimage,
    smooth,
    stk,
    strips,
    tables_of_their_own,
    virtual_stack,
)
from tiff_reading import ReadBack, assert_same

from shadowzarr.errors import UnsupportedError

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tiff.md"

GRAY, RGB = smooth(45, 60), smooth(45, 60, 3, dtype="u1")
RGB_TAGS = {**gray(12, 10), 258: [8, 8, 8], 277: 3, 262: 2}
ROWS = smooth(10, 12, dtype="u1")
WHITE_4, BLACK_8 = "1011", "000101"  # runs, as ITU-T T.4 codes them

FEATURES = (
    Feature(LAYOUTS, "one strip", imwrite(GRAY, rowsperstrip=45), "`uint16`"),
    Feature(LAYOUTS, "strips one right behind the other, the last one short", imwrite(GRAY, rowsperstrip=16), "`uint16`"),
    Feature(LAYOUTS, "strips apart from each other", by_hand(strips(smooth(12, 12, dtype="u1"), 4, gray(12, 12), b"??")), "`uint8`"),
    Feature(LAYOUTS, "strips apart, the last one short", by_hand(strips(ROWS, 4, gray(12, 10), b"??")), "`uint8`"),
    Feature(LAYOUTS, "compressed strips", imwrite(smooth(48, 60), rowsperstrip=16, compression="zlib"), "`uint16`"),
    Feature(LAYOUTS, "compressed strips, the last one short", imwrite(GRAY, rowsperstrip=16, compression="zlib"), "`uint16`, `shadowzarr"),
    Feature(LAYOUTS, "tiles", imwrite(GRAY, tile=(32, 16)), "`uint16`"),
    Feature(LAYOUTS, "compressed tiles", imwrite(GRAY, tile=(32, 16), compression="zlib"), "`uint16`"),
    Feature(LAYOUTS, "tiles with a depth", imwrite(smooth(20, 45, 60), tile=(4, 32, 32), volumetric=True, photometric="minisblack"), "`uint16`"),
    Feature(LAYOUTS, "more than 1,000 chunks, unevenly spaced", imwrite(smooth(560, 560), tile=(16, 16), compression="zlib"), "`uint16`"),
    Feature(LAYOUTS, "strips or tiles that were never written", by_hand(Page({**gray(20, 20), 322: 16, 323: 16}, [smooth(16, 16, dtype="u1").tobytes()], offsets=[8, 0, 0, 0], counts=[256, 0, 0, 0])), "`uint8`"),
    Feature(LAYOUTS, "the same, with GDAL's value for missing data", by_hand(Page({**gray(20, 20), 322: 16, 323: 16, 42113: "7"}, [smooth(16, 16, dtype="u1").tobytes()], offsets=[8, 0, 0, 0], counts=[256, 0, 0, 0])), "`uint8`, fill value `7`"),
    Feature(LAYOUTS, "a page above 4 MiB in one piece", imwrite(np.zeros((2500, 2100), "u1") + 1), "`uint8`"),
    Feature(LAYOUTS, "pages above 4 MiB, evenly spaced", in_turns(*((np.full((2500, 2100), n, "u1"), {"metadata": None, "contiguous": False}) for n in range(2))), "`uint8`"),
    Feature(LAYOUTS, "samples of a pixel together", imwrite(RGB, photometric="rgb"), "`uint8`"),
    Feature(LAYOUTS, "samples in planes of their own", imwrite(smooth(3, 45, 60), photometric="rgb", planarconfig="separate", compression="lzw"), "`uint16`"),
    Feature(LAYOUTS, "BigTIFF", imwrite(GRAY, bigtiff=True), "`uint16`"),
    Feature(VALUES, "integers of whole bytes", imwrite(GRAY.astype("i4")), "`int32`"),
    Feature(VALUES, "big-endian", imwrite(GRAY, byteorder=">"), "`uint16`, big-endian"),
    Feature(VALUES, "float16 to float64", imwrite(GRAY.astype("f2")), "`float16`"),
    Feature(VALUES, "complex numbers", imwrite(GRAY.astype("c8")), "`complex64`"),
    Feature(VALUES, "1 bit", imwrite(GRAY > 50), "`bool`"),
    Feature(VALUES, "4 bits", packed(4), "`uint8`"),
    Feature(VALUES, "12 bits", packed(12), "`uint16`"),
    Feature(VALUES, "packed integers behind a compression, with a predictor", by_hand(Page({**gray(12, 10, 12), 259: 8, 317: 2}, [deflated(smooth(180, dtype="u1").tobytes())])), "`uint16`"),
    Feature(VALUES, "24-bit floats", by_hand(Page({**gray(12, 10, 24), 339: 3}, [bytes(range(1, 241)) + bytes(120)])), "`float32`"),
    Feature(VALUES, "complex integers", by_hand(Page({**gray(12, 10, 32), 339: 5}, [smooth(480, dtype="u1").tobytes()])), "`complex64`"),
    Feature(VALUES, "samples of different depth (RGB 565)", by_hand(Page({**RGB_TAGS, 258: (SHORT, [5, 6, 5])}, [smooth(240, dtype="u1").tobytes()])), "`uint8`"),
    Feature(VALUES, "bits in reversed order", by_hand(Page({**gray(12, 10), 266: 2}, [reversed_bits(ROWS.tobytes())])), "`uint8`"),
    Feature(VALUES, "bits in reversed order, compressed", by_hand(Page({**gray(12, 10), 266: 2, 259: 8}, [reversed_bits(deflated(ROWS.tobytes()))])), "`uint8`"),
    Feature(VALUES, "a palette", imwrite(ROWS, photometric="palette", colormap=np.arange(768, dtype="u2").reshape(3, 256)), "`uint8`"),
    *(
        Feature(COMPRESSIONS, title, imwrite(values, compression=name, **options), "`")
        for title, name, values, options in (
            ("deflate", "zlib", GRAY, {"rowsperstrip": 45}),
            ("Zstandard", "zstd", GRAY, {"rowsperstrip": 45}),
            ("LZW", "lzw", GRAY, {"rowsperstrip": 45}),
            ("PackBits", "packbits", GRAY, {"rowsperstrip": 45}),
            ("LZMA", "lzma", GRAY, {"rowsperstrip": 45}),
            ("LERC", "lerc", GRAY, {"rowsperstrip": 45}),
            ("deflate, horizontal predictor", "zlib", GRAY, {"rowsperstrip": 45, "predictor": True}),
            ("LZW, horizontal predictor", "lzw", RGB, {"rowsperstrip": 45, "predictor": True, "photometric": "rgb"}),
            ("deflate, floating-point predictor", "zlib", GRAY.astype("f4"), {"rowsperstrip": 45, "predictor": True}),
            ("JPEG, one sample", "jpeg", RGB[..., 0], {"rowsperstrip": 48}),
            ("JPEG, YCbCr with subsampled chrominance", "jpeg", RGB, {"photometric": "rgb", "rowsperstrip": 48}),
            ("JPEG 2000", "jpeg2000", GRAY, {"rowsperstrip": 45}),
            ("JPEG XL", "jpegxl", RGB, {"photometric": "rgb", "rowsperstrip": 45}),
            ("JPEG XR", "jpegxr", RGB, {"photometric": "rgb", "rowsperstrip": 45}),
            ("WebP", "webp", RGB, {"photometric": "rgb", "rowsperstrip": 45}),
            ("PNG", "png", RGB, {"photometric": "rgb", "rowsperstrip": 45}),
        )
    ),
    Feature(COMPRESSIONS, "deflate without metadata of the writer, old number 32946", by_hand(Page({**gray(12, 10), 259: 32946}, [deflated(ROWS.tobytes())])), "`uint8`"),
    Feature(COMPRESSIONS, "horizontal predictor without a compression", by_hand(strips(ROWS, 5, {**gray(12, 10), 317: 2}, b"??")), "`uint8`"),
    *(
        Feature(COMPRESSIONS, title, by_hand(Page({**gray(16, 10, 1), 259: number, **tags}, [data])), "`bool`")
        for title, number, tags, data in (
            ("CCITT run lengths", 2, {}, bits((WHITE_4 + BLACK_8 + WHITE_4 + "00") * 10)),
            ("CCITT group 3", 3, {}, bits(("000000000001" + WHITE_4 + BLACK_8 + WHITE_4) * 10)),
            ("CCITT group 4", 4, {}, bits("001" + WHITE_4 + BLACK_8 + "1" + "111" * 9 + "000000000001" * 2)),
            ("CCITT group 4, bits in reversed order", 4, {266: 2}, reversed_bits(bits("001" + WHITE_4 + BLACK_8 + "1" + "111" * 9))),
        )
    ),
    Feature(SERIES, "pages without metadata, evenly spaced", pages(20), "`uint16`"),
    Feature(SERIES, "pages without metadata, compressed", pages(20, compression="zlib", rowsperstrip=20), "`uint16`"),
    Feature(SERIES, "a stack written by tifffile", imwrite(smooth(4, 3, 20, 30), photometric="minisblack"), "`uint16`"),
    Feature(SERIES, "several series", in_turns((smooth(4, 20, 30), {"photometric": "minisblack"}), (smooth(9, 11, dtype="f4"), {})), "arrays `0`, `1`"),
    Feature(SERIES, "an ImageJ hyperstack", imwrite(smooth(3, 4, 2, 20, 30), imagej=True), "`uint16`"),
    Feature(SERIES, "an ImageJ stack with one directory, as those above 4 GiB", virtual_stack, "`uint16`"),
    Feature(SERIES, "OME-TIFF", imwrite(smooth(3, 4, 2, 20, 30), ome=True, metadata={"axes": "TZCYX"}), "`uint16`"),
    Feature(SERIES, "OME-TIFF in several files", ome_set, "`uint16`"),
    Feature(SERIES, "a pyramid in SubIFDs (OME-TIFF)", pyramid(reduced=False), "arrays `0/0`"),
    Feature(SERIES, "a pyramid of reduced pages", pyramid(reduced=True), "arrays `0/0`"),
    Feature(SERIES, "ScanImage", scanimage(6), "`uint16`"),
    Feature(SERIES, "MetaMorph STK", stk(4), "`uint16`"),
    Feature(SERIES, "Zeiss LSM", lsm(3), "arrays `0`, `1`"),
    Feature(COPIED, "a row of values in tiles", imwrite(smooth(100), tile=(16, 16)), "`uint16`"),
    Feature(COPIED, "files of a set stored in different ways", lambda path: ome_set(path, other={"byteorder": ">"}), "`uint16`"),
    Feature(COPIED, "pages with JPEG tables of their own", tables_of_their_own, "`uint8`"),
    Feature(COPIED, "values that tifffile computes (MD Gel)", gel, "`float32`"),
    Feature(LEFT, "a page stored in another way than the first, of which tifffile knows nothing", by_hand(*[Page(gray(12, 10), [ROWS.tobytes()])] * 4, Page({**gray(12, 10), 259: 8}, [deflated(ROWS.tobytes())]), *[Page(gray(12, 10), [ROWS.tobytes()])] * 6), ""),
    Feature(LEFT, "subsampled chrominance without a compression", by_hand(Page({**RGB_TAGS, 262: 6, 530: [2, 2]}, [bytes(180)])), ""),
    Feature(LEFT, "samples of different type", by_hand(Page({**RGB_TAGS, 258: [8, 16, 8]}, [bytes(480)])), ""),
    Feature(LEFT, "a page with no place in the file", by_hand(Page(gray(12, 10), [], offsets=[0], counts=[0])), ""),
    Feature(LEFT, "a page past the end of the file", by_hand(Page({**gray(12, 10), 259: 8}, [deflated(ROWS.tobytes())], offsets=[10**6])), ""),
    Feature(LEFT, "pages after a break in the chain of directories", broken_chain, "`uint8`"),
)  # fmt: skip


def identifiers() -> list[str]:
    numbers = dict.fromkeys((feature.topic for feature in FEATURES), 0)
    found = []
    for feature in FEATURES:
        numbers[feature.topic] += 1
        found.append(f"{feature.topic.lower().replace(' ', '-')}-{numbers[feature.topic]:02d}")
    return found


@pytest.mark.parametrize("feature", FEATURES, ids=identifiers())
def test_feature(feature: Feature, tmp_path: Path) -> None:
    stored, _ = produced(feature, tmp_path)
    assert stored.startswith(feature.starts)


def produced(feature: Feature, folder: Path) -> tuple[str, str]:
    """How a feature is stored and who else can read it, after it was compared with tifffile."""
    path = folder / "x.tif"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        feature.write(path)
    try:
        back = ReadBack(path)
    except UnsupportedError as error:
        assert feature.topic == LEFT
        return f"left out: {str(error).partition('represented: ')[2]}", "nobody"
    assert_same(path, back, left_out=0)
    assert bool(back.skipped()) == (feature.topic == LEFT)
    assert bool(back.converted()) == (feature.topic == COPIED)
    words = Words(back.rfs)
    return words.stored(), words.readers()


def table(folder: Path, topic: str) -> str:
    lines = ["| feature | how it is stored | who else can read it | test |", "|---|---|---|---|"]
    for name, feature in zip(identifiers(), FEATURES, strict=True):
        if feature.topic != topic:
            continue
        (folder / name).mkdir()
        cells = (feature.name, *produced(feature, folder / name), f"`{name}`")
        shown = (re.sub(r"\s+", " ", cell).replace("|", "\\|") for cell in cells)
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def test_the_page_shows_what_these_tests_produce(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    written = text
    for topic in dict.fromkeys(each.topic for each in FEATURES):
        start, end = f"<!-- table: {topic} -->\n", "\n<!-- end -->"
        assert start in text, f"docs/tiff.md has no table {topic!r}"
        head, _, rest = written.partition(start)
        written = head + start + table(tmp_path, topic) + end + rest.partition(end)[2]
    if os.environ.get("WRITE_DOCS") == "1":
        PAGE.write_text(written, encoding="utf-8")
    assert written == text or os.environ.get("WRITE_DOCS") == "1", "docs/tiff.md is old: run make docs-tables"
