"""Every feature of HDF5, one by one: how it is stored, that it reads as h5py reads it, and the page of it.

Each row builds a small file with one object ``x``, makes references and verifies them. How ``x`` is stored is
read from the references, and docs/hdf5.md shows it; ``make docs-tables`` writes the page anew.
"""

import os
import re
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5d, h5t, h5z
from hdf5_features import (
    ATTRIBUTES,
    BIG,
    FILES,
    FILLS,
    FILTERS,
    LATEST,
    LAYOUTS,
    LEFT,
    LINKS,
    NAMES,
    SPACES,
    TIMES,
    TYPES,
    ZIP,
    Feature,
    altered,
    attribute,
    beside,
    compound,
    data,
    empty,
    link,
    low,
    masked,
    opaque,
    other_file,
    plugin,
    raw_file,
    regions,
    rows,
    scaled,
    sequences,
    unknown_filter,
    virtual,
)
from stored_form import Stored

from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.verify import verify_rfs

PAGE = Path(__file__).resolve().parents[3] / "docs" / "hdf5.md"

FEATURES = (
    Feature(TYPES, "integer", data(BIG), "`int32`, in the file"),
    Feature(TYPES, "integer, big-endian", data(BIG, ">u8"), "`uint64`, big-endian"),
    Feature(
        TYPES,
        "integer of fewer bits than bytes",
        low(altered(h5t.STD_I32LE, ("set_precision", 24)), bytes(8)),
        "`int32`",
    ),
    Feature(TYPES, "float, also float16", data(BIG, "<f2"), "`float16`"),
    Feature(TYPES, "long double", data([1.5, np.nan], np.longdouble), "`float64`"),
    Feature(
        TYPES,
        "float of another format (bfloat16)",
        low(
            altered(
                h5t.IEEE_F32LE,
                ("set_fields", 15, 7, 8, 0, 7),
                ("set_size", 2),
                ("set_precision", 16),
                ("set_ebias", 127),
            ),
            bytes(4),
        ),
        "`float",
    ),
    Feature(TYPES, "complex", data(BIG, "<c16"), "`complex128`"),
    Feature(
        TYPES, "complex, HDF5 2.0's own type", low(h5t.COMPLEX_IEEE_F32LE, bytes(16)), "`complex64`", LATEST
    ),
    Feature(TYPES, "enumeration of FALSE and TRUE", data([True, False]), "`bool`"),
    Feature(TYPES, "any other enumeration", empty((2,), h5py.enum_dtype({"A": 1, "B": 2}, "<i2")), "`int16`"),
    Feature(TYPES, "bitfield", low(h5t.STD_B16LE, b"\1\2\3\4"), "`uint16`"),
    Feature(TYPES, "opaque, with its tag", low(opaque(3, b"tag"), b"abcdef"), "`raw_bytes`"),
    Feature(
        TYPES,
        "opaque that h5py writes for dates",
        lambda f: f.create_dataset("x", data=TIMES.astype(h5py.opaque_dtype(TIMES.dtype))),
        "`numpy.datetime64`",
    ),
    Feature(
        TYPES, "text of fixed length, any padding and character set", data([b"ab", b"c"], "S4"), "`string`"
    ),
    Feature(TYPES, "text of variable length", data(["a", "é"], object), "`string`"),
    Feature(
        TYPES, "text that is not UTF-8", empty((1,), h5py.string_dtype(), fillvalue=b"caf\xe9"), "bytes`"
    ),
    Feature(TYPES, "sequences of numbers", sequences([[1, 2], [3]], "<i4"), "`values`"),
    Feature(TYPES, "array", empty((2,), np.dtype(("<i2", (3,)))), "`int16`"),
    Feature(
        TYPES,
        "compound, also nested",
        data(np.zeros(300, [("a", "<i2"), ("b", [("c", "<f8")])])),
        "`struct`",
    ),
    Feature(
        TYPES, "compound with an array", data(np.zeros(2, [("a", "<i2", (3,)), ("b", "u1")])), "_ARRAY_FIELDS"
    ),
    Feature(TYPES, "compound with text and references", beside(rows), "_REFERENCE_FIELDS"),
    Feature(
        TYPES,
        "compound with unused bytes",
        low(compound((b"a", 0, h5t.STD_U8LE), (b"b", 4, h5t.STD_I32LE), size=8), bytes(16)),
        "`struct`",
    ),
    Feature(
        TYPES,
        "compound with sequences",
        lambda f: f.create_dataset("x", (2,), np.dtype([("n", "<i4"), ("s", h5py.vlen_dtype("<i4"))])),
        "_COLUMNS",
    ),
    Feature(
        TYPES,
        "object reference, also a null one",
        beside(lambda f: f.create_dataset("x", data=[f["y"].ref, h5py.Reference()], dtype=h5py.ref_dtype)),
        "object_reference",
    ),
    Feature(TYPES, "region reference", beside(regions), "region_reference"),
    Feature(
        TYPES,
        "committed type",
        lambda f: (f.__setitem__("type", np.dtype("<i4")), f.create_dataset("x", data=BIG, dtype=f["type"])),
        "`int32`",
    ),
    Feature(SPACES, "scalar", data(7), "shape ()"),
    Feature(SPACES, "null", lambda f: f.__setitem__("x", h5py.Empty("<f4")), "_NULL_DATASPACE"),
    Feature(SPACES, "axes of length zero", empty((0, 3), "<f4"), "shape (0, 3)"),
    Feature(SPACES, "unlimited", data(BIG, maxshape=(None, None), chunks=(10, 10)), "in the file"),
    Feature(LAYOUTS, "compact", low(h5t.STD_I32LE, bytes(8), set_layout=h5d.COMPACT), "in the document"),
    Feature(LAYOUTS, "contiguous", data(BIG), "1 chunk"),
    Feature(LAYOUTS, "contiguous, never allocated", empty((300,), "<i4"), "no chunks"),
    Feature(
        LAYOUTS,
        "contiguous, allocated early",
        low(h5t.STD_I64LE, None, (300,), set_alloc_time=h5d.ALLOC_TIME_EARLY),
        "in the file",
    ),
    Feature(LAYOUTS, "chunks in a version 1 B-tree", data(BIG, **ZIP), "6 chunks"),
    Feature(LAYOUTS, "a single chunk", data(BIG, chunks=(30, 20)), "1 chunk", LATEST),
    Feature(
        LAYOUTS,
        "implicit index",
        low(h5t.STD_I64LE, None, (300,), set_alloc_time=h5d.ALLOC_TIME_EARLY, set_chunk=((100,),)),
        "3 chunks",
        LATEST,
    ),
    Feature(LAYOUTS, "fixed array", data(BIG, **ZIP), "6 chunks", LATEST),
    Feature(LAYOUTS, "extensible array", data(BIG, maxshape=(30, None), **ZIP), "6 chunks", LATEST),
    Feature(LAYOUTS, "version 2 B-tree", data(BIG, maxshape=(None, None), **ZIP), "6 chunks", LATEST),
    Feature(LAYOUTS, "missing chunks", empty((300,), "<i4", chunks=(100,)), "no chunks"),
    Feature(LAYOUTS, "chunks past the edge", data(BIG, chunks=(16, 16)), "4 chunks"),
    Feature(LAYOUTS, "chunks that skipped a filter", masked, "in the file and the document"),
    Feature(LAYOUTS, "virtual dataset", beside(virtual), "in the file"),
    Feature(LAYOUTS, "external raw file", raw_file, "in the file"),
    Feature(FILTERS, "deflate (1)", data(BIG, **ZIP), "`numcodecs.zlib`"),
    Feature(FILTERS, "shuffle (2)", data(BIG, chunks=(10, 10), shuffle=True), "`numcodecs.shuffle`"),
    Feature(FILTERS, "fletcher32 (3)", data(BIG, chunks=(10, 10), fletcher32=True), "`numcodecs.fletcher32`"),
    Feature(FILTERS, "szip (4)", data(BIG, chunks=(10, 10), compression="szip"), "`shadowzarr.hdf5_filters`"),
    Feature(
        FILTERS,
        "n-bit (5)",
        low(
            altered(h5t.STD_I32LE, ("set_precision", 24)),
            bytes(2000),
            (500,),
            set_chunk=((100,),),
            set_filter=(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL),
        ),
        "in the document",
    ),
    Feature(
        FILTERS, "scale-offset (6)", data(BIG, chunks=(10, 10), scaleoffset=0), "`shadowzarr.hdf5_filters`"
    ),
    Feature(
        FILTERS,
        "lzf (32000)",
        data(BIG // 100, chunks=(10, 10), compression="lzf"),
        "`shadowzarr.hdf5_filters`",
    ),
    Feature(FILTERS, "blosc (32001)", plugin("Blosc"), "`blosc`", plugin=True),
    Feature(FILTERS, "lz4 (32004)", plugin("LZ4"), "`imagecodecs_lz4h5`", plugin=True),
    Feature(FILTERS, "bitshuffle (32008)", plugin("Bitshuffle"), "`shadowzarr.hdf5_filters`", plugin=True),
    Feature(FILTERS, "zfp (32013)", plugin("Zfp"), "`shadowzarr.hdf5_filters`", plugin=True),
    Feature(FILTERS, "zstd (32015)", plugin("Zstd"), "`zstd`", plugin=True),
    Feature(FILTERS, "bzip2 (307)", plugin("BZip2"), "`numcodecs.bz2`", plugin=True),
    Feature(FILTERS, "blosc2 (32026)", plugin("Blosc2"), "`shadowzarr.hdf5_filters`", plugin=True),
    Feature(LINKS, "soft link", beside(link("x", h5py.SoftLink("/y"))), "_LINKS"),
    Feature(LINKS, "second name of an object", beside(lambda f: f.__setitem__("z/x", f["y"])), "_LINKS"),
    Feature(LINKS, "cycle", lambda f: (f.create_group("g"), f.__setitem__("g/x", f["/"])), "_LINKS"),
    Feature(LINKS, "external link", other_file, "in the file"),
    Feature(
        ATTRIBUTES, "number, text, boolean, lists of them", attribute([[1, 2], [3, 4]]), "`[[1,2],[3,4]]`"
    ),
    Feature(ATTRIBUTES, "NaN and infinities", attribute([np.nan, 1.0]), '`["NaN",1.0]`'),
    Feature(ATTRIBUTES, "bytes: opaque, or text that is not UTF-8", attribute(np.void(b"\0\1")), "base64:"),
    Feature(
        ATTRIBUTES,
        "text that looks like either",
        lambda f: f.attrs.update({"x": "NaN", "y": np.nan}),
        "_str_NaN",
    ),
    Feature(ATTRIBUTES, "complex", attribute(np.complex64(1 + 2j)), "`[1.0,2.0]`"),
    Feature(
        ATTRIBUTES,
        "compound",
        attribute(np.array((1, 2.5), [("a", "<i4"), ("b", "<f4")])),
        '`{"a":1,"b":2.5}`',
    ),
    Feature(
        ATTRIBUTES, "object reference", beside(lambda f: f.attrs.__setitem__("x", f["y"].ref)), "_REFERENCE"
    ),
    Feature(
        ATTRIBUTES,
        "region reference",
        beside(lambda f: f.attrs.__setitem__("x", f["y"].regionref[:2])),
        "region",
    ),
    Feature(ATTRIBUTES, "null dataspace", attribute(h5py.Empty("<f4")), "`null`"),
    Feature(
        ATTRIBUTES, "more than 64 KiB, and dense storage", attribute(np.zeros(10_000)), "0.0,0.0", LATEST
    ),
    Feature(
        NAMES,
        "chunk keys and metadata keys (c, zarr.json)",
        lambda f: f.__setitem__("c/zarr.json/x", BIG),
        "in the file",
    ),
    Feature(
        NAMES,
        "spaces, percent, hash, other scripts",
        lambda f: f.__setitem__("50% #1/漢字/x", BIG),
        "in the file",
    ),
    Feature(NAMES, "a backslash", lambda f: f.__setitem__("a\\b/x", BIG), "in the file"),
    Feature(FILES, "superblock 0", data(BIG), "in the file", {"libver": "earliest"}),
    Feature(FILES, "superblock 3", data(BIG), "in the file", LATEST),
    Feature(FILES, "user block", data(BIG), "in the file", {"userblock_size": 512}),
    Feature(FILES, "creation order", data(BIG), "in the file", {"track_order": True}),
    Feature(FILES, "dimension scales (NetCDF4)", beside(scaled), "`dimension_names`"),
    Feature(FILLS, "number", empty((300,), "<i4", chunks=(10,), fillvalue=7), "fill value `7`"),
    Feature(FILLS, "NaN", empty((300,), "<f4", chunks=(10,), fillvalue=np.nan), 'fill value `"NaN"`'),
    Feature(
        FILLS,
        "compound",
        empty(
            (300,),
            [("a", "<i4"), ("b", "u1")],
            chunks=(10,),
            fillvalue=np.array((1, 2), [("a", "<i4"), ("b", "u1")]),
        ),
        'fill value `{"a":1,"b":2}`',
    ),
    Feature(
        FILLS, "text", empty((3,), h5py.string_dtype(), chunks=(2,), fillvalue="none"), 'fill value `"none"`'
    ),
    Feature(
        FILLS,
        "never written",
        low(
            h5t.STD_I32LE, None, (300,), set_fill_value=np.array(7, "<i4"), set_fill_time=h5d.FILL_TIME_NEVER
        ),
        "fill value `0`",
    ),
    Feature(LEFT, "time (H5T_TIME)", low(h5t.UNIX_D32LE), "left out"),
    Feature(
        LEFT, "integers that numpy lacks", low(altered(h5t.STD_U32LE, ("set_size", 3)), bytes(6)), "left out"
    ),
    Feature(LEFT, "sequences of big-endian numbers", sequences([[1]], ">i4"), "left out"),
    Feature(
        LEFT, "long doubles that no double holds", data([np.longdouble(1) / 3], np.longdouble), "left out"
    ),
    Feature(LEFT, "a filter without codec and plug-in", unknown_filter, "left out"),
    Feature(LEFT, "soft link that leads nowhere", link("x", h5py.SoftLink("/nowhere")), "left out"),
    Feature(
        LEFT,
        "external link to a file that is not there",
        link("x", h5py.ExternalLink("no.h5", "/y")),
        "left out",
    ),
    Feature(LEFT, "attribute with a reserved name", lambda f: f.attrs.__setitem__("_DTYPE", "x"), "left out"),
    Feature(
        LEFT,
        "attribute that refers to what is left out",
        lambda f: (low(h5t.UNIX_D32LE)(f), f.attrs.__setitem__("x", f["x"].ref)),
        "left out",
    ),
    Feature(LEFT, "names that zarr takes for others", lambda f: f.__setitem__("\\x", BIG), "left out"),
)


def identifiers() -> list[str]:
    """Short names of the rows, by which pytest and the page know them."""
    counts: dict[str, int] = {}
    found = []
    for feature in FEATURES:
        counts[feature.topic] = counts.get(feature.topic, 0) + 1
        found.append(f"{feature.topic.lower().replace(' ', '-')}-{counts[feature.topic]:02}")
    return found


@pytest.mark.parametrize("feature", FEATURES, ids=identifiers())
def test_feature(feature: Feature, tmp_path: Path) -> None:
    stored, _ = produced(feature, tmp_path)
    assert feature.wanted in stored


def produced(feature: Feature, folder: Path) -> tuple[str, str]:
    """How the feature is stored, and who can read it; verified."""
    if feature.plugin:
        pytest.importorskip("hdf5plugin")
    path = folder / "file.h5"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with h5py.File(path, "w", **feature.options) as file:
            feature.build(file)
        rfs = generate_rfs(path)
        report = verify_rfs(rfs, mode="full")
    assert report.equal, report.summary()
    return Stored(rfs).words(feature.topic)


def table(folder: Path, topic: str) -> str:
    lines = ["| feature | how it is stored | who else can read it | test |", "|---|---|---|---|"]
    for name, feature in zip(identifiers(), FEATURES, strict=True):
        if feature.topic != topic:
            continue
        (folder / name).mkdir()
        cells = (feature.name, *produced(feature, folder / name), f"`{name}`")
        lines.append(
            "| " + " | ".join(re.sub(r"\s+", " ", cell).replace("|", "\\|") for cell in cells) + " |"
        )
    return "\n".join(lines)


def test_the_page_shows_what_these_tests_produce(tmp_path: Path) -> None:
    pytest.importorskip("hdf5plugin")
    pytest.importorskip("imagecodecs")
    text = PAGE.read_text(encoding="utf-8")
    written = text
    for topic in dict.fromkeys(each.topic for each in FEATURES):
        start, end = f"<!-- table: {topic} -->\n", "\n<!-- end -->"
        assert start in text, f"docs/hdf5.md has no table {topic!r}"
        head, _, rest = written.partition(start)
        written = head + start + table(tmp_path, topic) + end + rest.partition(end)[2]
    if os.environ.get("WRITE_DOCS") == "1":
        PAGE.write_text(written, encoding="utf-8")
    assert written == text or os.environ.get("WRITE_DOCS") == "1", "docs/hdf5.md is old: run make docs-tables"
