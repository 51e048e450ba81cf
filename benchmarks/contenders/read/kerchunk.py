"""kerchunk's references through fsspec's reference file system and zarr."""

from __future__ import annotations

from typing import Any

import zarr

from benchmarks.measure.prepared import Prepared

from .selections import prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Set zarr's concurrency for good, and open JSON or Parquet."""
    zarr.config.set({"async.concurrency": arguments["concurrency"]})

    def open_array(place: dict[str, str]) -> Any:
        is_remote = place["source"].startswith("http")
        options = {
            "fo": f"{place['references']}.{arguments['form']}",
            "remote_protocol": "http" if is_remote else "file",
            "remote_options": {"asynchronous": True} if is_remote else {},
        }
        group = zarr.open_group("reference://", mode="r", zarr_format=2, storage_options=options)
        return group[place["dataset"]]

    return prepared(open_array, arguments)
