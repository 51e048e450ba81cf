"""Random TIFF files: references give what tifffile gives. More of them with ``TIFF_EXAMPLES=1000``."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tiff_reading import assert_same

UNWRITABLE = (ValueError, RuntimeError, KeyError)
"""What comes of samples that no codec takes: from tifffile, from imagecodecs, and from a table of sizes."""
EXAMPLES = int(os.environ.get("TIFF_EXAMPLES", "40"))
COMPRESSIONS = (
    None,
    "zlib",
    "zstd",
    "lzw",
    "packbits",
    "lzma",
    "jpeg",
    "jpeg2000",
    "jpegxl",
    "webp",
    "png",
    "lerc",
)
DTYPES = ("bool", "u1", "i1", "u2", "i2", "u4", "f2", "f4", "f8", "c8")


@st.composite
def files(draw: st.DrawFn) -> tuple[np.ndarray, dict[str, Any]]:
    """Values, and options of `tifffile.imwrite`; not every combination can be written."""
    lead = draw(st.lists(st.integers(1, 3), max_size=2))
    rows, columns = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    samples = draw(st.sampled_from(("none", "contig", "separate")))
    planes = {"none": (), "contig": (3,), "separate": (3,)}[samples]
    shape = (*lead, *planes, rows, columns) if samples == "separate" else (*lead, rows, columns, *planes)
    dtype = draw(st.sampled_from(DTYPES))
    values = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 200, shape).astype(dtype)
    options: dict[str, Any] = {
        "photometric": "minisblack" if samples == "none" else "rgb",
        "planarconfig": None if samples == "none" else samples,
        "compression": draw(st.sampled_from(COMPRESSIONS)),
        "predictor": draw(st.booleans()),
        "byteorder": draw(st.sampled_from("<>")),
        "bigtiff": draw(st.booleans()),
        "metadata": draw(st.sampled_from(({}, None))),
        **draw(
            st.one_of(
                st.fixed_dictionaries({"rowsperstrip": st.integers(1, 45)}),
                st.fixed_dictionaries({"tile": st.sampled_from(((16, 16), (32, 16), (16, 48)))}),
            )
        ),
    }
    return values, options


def written(path: Path, values: np.ndarray, options: dict[str, Any]) -> bool:
    """Whether tifffile can write such a file; without a predictor where it has none."""
    for predictor in (options["predictor"], False):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tifffile.imwrite(path, values, **{**options, "predictor": predictor})
        except UNWRITABLE:
            continue
        return True
    return False


@settings(max_examples=EXAMPLES)
@given(files())
def test_references_give_what_tifffile_gives(
    tmp_path_factory: Any, file: tuple[np.ndarray, dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("tiff") / "file.tif"
    assume(written(path, *file))  # hypothesis fails when too few can be
    back = assert_same(path)
    assert not back.skipped()
