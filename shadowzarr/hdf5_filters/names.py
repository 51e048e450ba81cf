"""Numbers and names of HDF5 filters, and how ``zarr.json`` names them. Without h5py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

CODEC_NAME: Final = "shadowzarr.hdf5_filters"
"""Name of the Zarr codec."""

DEFLATE, SHUFFLE, FLETCHER32, SZIP, NBIT, SCALEOFFSET = 1, 2, 3, 4, 5, 6
BZIP2, LZF, BLOSC, LZ4, BITSHUFFLE, ZFP, ZSTD, BLOSC2 = 307, 32000, 32001, 32004, 32008, 32013, 32015, 32026

NAMES: Final = {
    DEFLATE: "gzip",
    SHUFFLE: "shuffle",
    FLETCHER32: "fletcher32",
    SZIP: "szip",
    NBIT: "n-bit",
    SCALEOFFSET: "scale-offset",
    305: "lzo",
    BZIP2: "bzip2",
    LZF: "lzf",
    BLOSC: "blosc",
    LZ4: "lz4",
    BITSHUFFLE: "bitshuffle",
    ZFP: "zfp",
    ZSTD: "zstd",
    32017: "sz",
    32018: "fcidecomp (JPEG-LS)",
    32019: "jpeg",
    32022: "bitgroom",
    32023: "granular bitround",
    32024: "sz3",
    BLOSC2: "blosc2",
    32028: "sperr",
    32037: "htj2k",
}

Filters = tuple[tuple[int, tuple[int, ...]], ...]
"""Numbers and client data values of filters, in the order in which they are applied."""


def filter_name(number: int) -> str:
    """What people call a filter."""
    return NAMES.get(number, f"HDF5 filter {number}")


def codec_entry(filters: Iterable[tuple[int, Iterable[int]]]) -> dict[str, Any]:
    """The entry of our codec in ``zarr.json`` for these filters."""
    entries = [
        {"id": number, "name": filter_name(number), "cd_values": list(values)} for number, values in filters
    ]
    return {"name": CODEC_NAME, "configuration": {"filters": entries}}
