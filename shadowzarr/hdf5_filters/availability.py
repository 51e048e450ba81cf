"""Whether the HDF5 of this process can undo and apply a filter."""

from __future__ import annotations

import importlib
from typing import Final

from h5py import h5z

from .._installation import install_extra
from .names import BITSHUFFLE, BLOSC, BLOSC2, BZIP2, LZ4, LZF, ZFP, ZSTD, Filters, filter_name

_IN_EXTRA: Final = frozenset(
    {BZIP2, BLOSC, LZ4, BITSHUFFLE, ZFP, ZSTD, 32017, 32018, 32024, BLOSC2, 32028, 32037}
)

# Encoders that take any client data values; others crash on those that another version has written (sz).
_ENCODERS: Final = frozenset(range(1, 7)) | {BZIP2, LZF, BLOSC, LZ4, BITSHUFFLE, ZFP, ZSTD, BLOSC2}


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
                f"install it with: {install_extra('hdf5')}"
                if number in _IN_EXTRA
                else "install it and set HDF5_PLUGIN_PATH to its folder"
            )
            return f"the HDF5 plug-in for the filter {filter_name(number)} ({number}) is missing; {remedy}"
    return None
