"""Versions of the libraries that decide what an output looks like."""

from __future__ import annotations

import functools
import platform
from importlib.metadata import PackageNotFoundError, version

DECIDING = (
    *("shadowzarr", "h5py", "numpy", "zarr", "numcodecs", "tifffile", "neo"),
    *("neuroconv", "spikeinterface", "roiextractors", "pynwb", "hdmf", "hdmf-zarr"),
)


@functools.cache
def library_versions(*, names: tuple[str, ...] = DECIDING) -> dict[str, str]:
    """Return the versions of Python and of the libraries that are installed."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
