"""Numbers and names of HDF5 filters, how ``zarr.json`` names them, and whether HDF5 here has them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any, Final

from h5py import h5z

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

_IN_EXTRA = frozenset({BZIP2, BLOSC, LZ4, BITSHUFFLE, ZFP, ZSTD, 32017, 32018, 32024, BLOSC2, 32028, 32037})

# Encoders that take any client data values; others crash on those that another version has written (sz).
_ENCODERS = frozenset(range(1, 7)) | {BZIP2, LZF, BLOSC, LZ4, BITSHUFFLE, ZFP, ZSTD, BLOSC2}

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


def is_available(number: int) -> bool:
    """Whether HDF5 here has a filter; plug-ins that are installed are made known to it."""
    if h5z.filter_avail(number):
        return True
    try:
        importlib.import_module("hdf5plugin")
    except ImportError:
        return False
    return bool(h5z.filter_avail(number))


def has_encoder(number: int) -> bool:
    """Whether an available filter can be applied, not only undone."""
    return number in _ENCODERS and bool(h5z.get_filter_info(number) & h5z.FILTER_CONFIG_ENCODE_ENABLED)


def missing_filter(filters: Filters) -> str | None:
    """Why HDF5 here cannot undo these filters, and what to do; None when it can."""
    for number, _ in filters:
        if not is_available(number):
            remedy = (
                'install it with: pip install "shadowzarr[hdf5]"'
                if number in _IN_EXTRA
                else "install it and set HDF5_PLUGIN_PATH to its folder"
            )
            return f"the HDF5 plug-in for the filter {filter_name(number)} ({number}) is missing; {remedy}"
    return None
