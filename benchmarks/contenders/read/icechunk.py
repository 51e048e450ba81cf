"""Icechunk's virtual chunks through zarr."""

from __future__ import annotations

from typing import Any

import icechunk
import zarr

from benchmarks.contenders.references.icechunk import container_of
from benchmarks.measure.prepared import Prepared

from .selections import prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Set zarr's concurrency for good."""
    zarr.config.set({"async.concurrency": arguments["concurrency"]})

    def open_array(place: dict[str, str]) -> Any:
        repository = icechunk.Repository.open(
            _storage(f"{place['references']}.icechunk"),
            authorize_virtual_chunk_access={container_of(place["source"])[0]: _access(place["source"])},
        )
        store = repository.readonly_session("main").store
        return zarr.open_group(store, mode="r", zarr_format=3)[place["dataset"]]

    return prepared(open_array, arguments)


def _storage(place: str) -> Any:
    if place.startswith("http"):
        return icechunk.http_storage(place, opts={"allow_http": "true"})
    return icechunk.local_filesystem_storage(place)


def _access(source: str) -> Any:
    credentials = icechunk.credentials
    return credentials.HttpAccess if source.startswith("http") else credentials.LocalFileSystemAccess
