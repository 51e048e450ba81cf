"""VirtualiZarr's store of manifests, which has no form on disk: opening it is parsing the file."""

from __future__ import annotations

from typing import Any

import zarr

from benchmarks.contenders.generate.virtualizarr import parse
from benchmarks.measure.prepared import Prepared

from .selections import prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Set zarr's concurrency for good."""
    zarr.config.set({"async.concurrency": arguments["concurrency"]})

    def open_array(place: dict[str, str]) -> Any:
        return zarr.open_group(parse(place["source"]), mode="r", zarr_format=3)[place["dataset"]]

    return prepared(open_array, arguments)
