"""open_rfs: document → RfsStore → zarr.Group."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Unpack, get_args

import zarr
from zarr.core.group import GroupMetadata
from zarr.storage import StorePath

from ..errors import InvalidReferencesError, UsageError
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import Rfs
from .memory_order import MemoryOrder, OrderedGroup
from .rfs_store import RfsStore
from .store_options import StoreOptions, load_with


def open_rfs(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    memory_order: MemoryOrder = "auto",
    **options: Unpack[StoreOptions],
) -> zarr.Group:
    """Open a reference file system for reading.

    Parameters
    ----------
    source : str, path or mapping
        As for `load_rfs`.
    memory_order : {"auto", "C"}, optional
        How values lie in the arrays of numpy that are read: "auto" chooses Fortran order where chunks are
        columns of the result, such as channels of a recording, since copying them is then many times as
        fast; "C" leaves it to zarr's own default. The values are the same.
    **options
        As for `RfsStore`; ``cf_attributes`` is off unless it is given.

    Returns
    -------
    zarr.Group
        Chunks are fetched when they are read.

    Raises
    ------
    InvalidReferencesError
        When it is not a reference file system that can be read here.
    RefusedPlaceError
        When it names a place that it may not.
    ReadError
        When it cannot be read.
    UsageError
        When ``memory_order`` is another one.
    """
    if memory_order not in get_args(MemoryOrder):
        raise UsageError(f'memory_order is "auto" or "C", not {memory_order!r}')
    if isinstance(source, Mapping):
        group = open_loaded(load_with(source, options), **options)
    else:
        options.setdefault("cf_attributes", False)
        group = _root_of(RfsStore(source, **options))
    return zarr.Group(OrderedGroup(group.metadata, group.store_path)) if memory_order == "auto" else group


def open_loaded(rfs: Rfs, **options: Unpack[StoreOptions]) -> zarr.Group:
    """Open what `load_rfs` gave; options as for `RfsStore`."""
    options.setdefault("cf_attributes", False)
    return _root_of(RfsStore(rfs, **options))


def _root_of(store: RfsStore) -> zarr.Group:
    if METADATA_NAME not in store.rfs["refs"]:
        raise InvalidReferencesError(
            f"the references have no {METADATA_NAME} at their root, so there is no group to open"
        )
    metadata = store.root_metadata()
    if not isinstance(metadata, GroupMetadata):
        raise InvalidReferencesError(
            "the root of the references is an array; open it by zarr.open_array(RfsStore(...), mode='r')"
        )
    # As zarr.open_group gives it, without the metadata of all nodes being made and parsed for it.
    return zarr.Group(zarr.AsyncGroup(metadata, StorePath(store)))
