"""open_rfs: document → RfsStore → zarr.Group."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Unpack

import zarr

from ..refs.document import Rfs
from .load_rfs import load_rfs
from .rfs_store import RfsStore, StoreOptions


def open_rfs(
    source: str | os.PathLike[str] | Mapping[str, Any], **options: Unpack[StoreOptions]
) -> zarr.Group:
    """Open a reference file system for reading.

    Parameters
    ----------
    source : str, path or mapping
        As for `load_rfs`.
    **options
        As for `RfsStore`.

    Returns
    -------
    zarr.Group
        Chunks are fetched when they are read.

    Raises
    ------
    InvalidReferencesError
        When it is not a reference file system that can be read here.
    ReadError
        When it cannot be read.
    """
    return open_loaded(load_rfs(source, reader=options.get("reader")), **options)


def open_loaded(rfs: Rfs, **options: Unpack[StoreOptions]) -> zarr.Group:
    """Open what `load_rfs` gave; options as for `RfsStore`."""
    return zarr.open_group(RfsStore(rfs, **options), mode="r", zarr_format=3, use_consolidated=False)
