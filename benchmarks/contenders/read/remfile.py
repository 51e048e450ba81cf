"""h5py over remfile, or alone on a local path: no references."""

from __future__ import annotations

from typing import Any

import h5py
from remfile import File

from benchmarks.measure.prepared import Prepared

from .selections import prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Open the file itself."""

    def open_array(place: dict[str, str]) -> Any:
        source = place["source"]
        return h5py.File(File(source) if source.startswith("http") else source)[place["dataset"]]

    return prepared(open_array, arguments)
