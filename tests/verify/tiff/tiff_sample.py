"""A TIFF file of several series, each stored in another way, and references to it."""

import numpy as np

from shadowzarr import write_rfs
from shadowzarr.formats.tiff.generate import generate_rfs_tiff


def write_tiff(path, tifffile):
    """Write a big-endian file: a stack in one piece, a pyramid, strips of two lengths, missing tiles."""
    chance = np.random.default_rng(1)
    stack = chance.integers(0, 60_000, (6, 20, 30)).astype("u2")
    large = chance.integers(0, 200, (40, 48)).astype("f4") / 7
    strips = chance.integers(0, 255, (25, 40)).astype("u1")
    tile = np.full((16, 16), 9, ">u2").tobytes()
    plain = {"photometric": "minisblack"}
    with tifffile.TiffWriter(path, byteorder=">") as writer:
        writer.write(stack, metadata={"axes": "TYX"}, **plain)
        writer.write(large, tile=(16, 16), compression="deflate", subifds=1, metadata={"axes": "YX"}, **plain)
        writer.write(large[::2, ::2], tile=(16, 16), compression="deflate", subfiletype=1, **plain)
        writer.write(strips, rowsperstrip=8, compression="lzw", **plain)
        writer.write(
            iter([tile, b"", b"", tile]),
            shape=(32, 32),
            dtype="u2",
            tile=(16, 16),
            extratags=[(42113, "s", 0, "5", True)],  # GDAL_NODATA
            **plain,
        )
    return path


def write_references(tiff, target, **options):
    write_rfs(generate_rfs_tiff(tiff, **options), target)
    return target
