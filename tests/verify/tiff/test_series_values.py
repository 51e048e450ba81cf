"""A region of a series is what tifffile's own ``asarray`` gives, however it is read."""

import io
import random

import numpy as np
import pytest

from shadowzarr.verify.tiff.page_segments import along_all_axes
from shadowzarr.verify.tiff.series_values import SeriesValues

tifffile = pytest.importorskip("tifffile", reason="the extra tiff is not installed")

FILES = {
    "one piece": ((7, 30, 20), "u2", {}),
    "one piece, big-endian": ((7, 30, 20), "f4", {"byteorder": ">"}),
    "deflate strips": ((3, 50, 20), "u2", {"compression": "deflate", "rowsperstrip": 7}),
    "deflate tiles": ((3, 50, 40), "u2", {"compression": "deflate", "tile": (16, 16)}),
    "lzw with a predictor": ((45, 70), "u1", {"compression": "lzw", "predictor": True, "tile": (16, 32)}),
    "colours together": ((2, 40, 30, 3), "u1", {"photometric": "rgb", "compression": "deflate"}),
    "colours apart": (
        (2, 3, 40, 30),
        "u1",
        {"photometric": "rgb", "planarconfig": "separate", "compression": "deflate", "tile": (16, 16)},
    ),
    "volume of tiles": ((20, 40, 30), "u2", {"volumetric": True, "tile": (8, 16, 16)}),
    "jpeg": ((2, 64, 48, 3), "u1", {"photometric": "rgb", "compression": "jpeg", "tile": (32, 32)}),
    "shaped": ((2, 3, 30, 20), "f8", {"metadata": {"axes": "TCYX"}}),
    "ome": ((2, 3, 30, 20), "u2", {"ome": True, "metadata": {"axes": "TCYX"}, "compression": "deflate"}),
    "imagej": ((4, 30, 20), "u2", {"imagej": True}),
}


def written(name):
    shape, dtype, options = FILES[name]
    values = np.random.default_rng(3).integers(0, 200, shape).astype(dtype)
    stream = io.BytesIO()
    with tifffile.TiffWriter(
        stream,
        ome=options.get("ome"),
        imagej=options.get("imagej", False),
        byteorder=options.get("byteorder"),
    ) as writer:
        rest = {key: item for key, item in options.items() if key not in ("ome", "imagej", "byteorder")}
        writer.write(values, photometric=rest.pop("photometric", "minisblack"), **rest)
    stream.seek(0)
    return stream


@pytest.mark.parametrize("whole_bytes", [0, 1500, 2**30])
@pytest.mark.parametrize("name", sorted(FILES))
def test_a_region_is_a_part_of_the_whole(name, whole_bytes):
    chance = random.Random(0)
    with tifffile.TiffFile(written(name)) as file:
        series = file.series[0]
        whole = series.asarray()
        values = SeriesValues(series, whole_bytes=whole_bytes)
        for _ in range(12):
            starts = [chance.randrange(extent) for extent in whole.shape]
            region = tuple(
                slice(start, chance.randint(start + 1, extent))
                for start, extent in zip(starts, whole.shape, strict=True)
            )
            np.testing.assert_array_equal(values.read(region), whole[region])
        everything = tuple(slice(0, extent) for extent in whole.shape)
        np.testing.assert_array_equal(values.read(everything), whole)


@pytest.mark.parametrize("whole_bytes", [0, 2**30])
def test_a_tile_that_is_not_stored_is_what_the_file_says_of_it(whole_bytes):
    stream = io.BytesIO()
    tiles = [b"", np.full((16, 16), 9, "u1").tobytes(), b"", b""]
    extra = [(42113, "s", 0, "5", True)]  # GDAL_NODATA
    tifffile.imwrite(
        stream, iter(tiles), shape=(32, 32), dtype="u1", tile=(16, 16), extratags=extra, photometric=1
    )
    stream.seek(0)
    with tifffile.TiffFile(stream) as file:
        whole = file.series[0].asarray()
        assert set(np.unique(whole)) == {5, 9}
        region = (slice(3, 32), slice(0, 20))
        values = SeriesValues(file.series[0], whole_bytes=whole_bytes)
        np.testing.assert_array_equal(values.read(region), whole[region])


def test_axes_of_length_one_may_be_missing():
    region = (slice(1, 2), slice(2, 3))
    whole = slice(0, 1)
    assert along_all_axes(region, (4, 5), (1, 1, 4, 5, 1)) == (whole, whole, *region, whole)
    assert along_all_axes((*region, slice(0, 3)), (4, 5, 3), (1, 1, 4, 5, 3)) == (
        whole,
        whole,
        *region,
        slice(0, 3),
    )
    assert along_all_axes(region, (3, 5), (3, 1, 1, 5, 1)) == (region[0], whole, whole, region[1], whole)
