"""`read_nwb`: an NWB file from references, a Zarr folder, or any zarr store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from zarr.abc.store import Store
from zarr.storage import LocalStore

from .._optional import require
from ..access.locations import canonical, is_remote
from ..errors import UsageError
from ..refs.chunk_key import METADATA_NAME
from ..store.rfs_store import RfsStore
from .decoded_store import decoded

_V2_GROUP = ".zgroup"


def read_nwb(source: str | os.PathLike[str] | Store, *, group: str | None = None) -> Any:
    """Read an NWB file.

    Parameters
    ----------
    source : str, path or store
        References (a ``.json`` file, a directory of one, or the URL of either), a local Zarr folder, or a
        zarr store, such as the ``store`` of an Icechunk session.
    group : str, optional
        Path of the group that holds the file, when it is not the root.

    Returns
    -------
    pynwb.NWBFile
        Data are read when they are asked for. Its ``read_io`` is the `NWBZarrIO` that reads them.

    Raises
    ------
    MissingDependencyError
        When hdmf-zarr is not installed.
    InvalidReferencesError
        When it is none of these.
    UsageError
        When it is an Icechunk repository, which must be opened for its snapshot and credentials first.
    ReadError
        When it cannot be read.
    """
    hdmf_zarr = require("hdmf_zarr", extra="nwb")
    store = source if isinstance(source, Store) else _store_at(source)
    if group or not isinstance(store, RfsStore):  # which decodes by itself
        store = decoded(store, group=group)
    return hdmf_zarr.NWBZarrIO(store, mode="r").read()


def _store_at(place: str | os.PathLike[str]) -> Store:
    location = canonical(place)
    path = None if is_remote(location) else Path(location)
    if path is not None and path.is_dir():
        if (path / METADATA_NAME).is_file() or (path / _V2_GROUP).is_file():
            return LocalStore(path, read_only=True)
        if (path / "repo").is_file() and (path / "snapshots").is_dir():
            raise UsageError(
                f"{path} is an Icechunk repository; open it with icechunk and give the store of a session: "
                "read_nwb(repo.readonly_session('main').store)"
            )
    return RfsStore(location)
