"""shadowzarr at its defaults."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from benchmarks.measure.prepared import Prepared
from shadowzarr import generate_rfs, write_rfs
from shadowzarr.refs.chunk_index import MISSING

from .found import ATTRIBUTE, found


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Warm up with the small file."""
    generate_rfs(arguments["warm_up"])
    output = f"{arguments['output']}.shadowzarr"

    def run() -> Any:
        rfs = generate_rfs(arguments["source"])
        if arguments["is_written"]:
            write_rfs(rfs, output)
        return rfs

    return Prepared(run, lambda rfs: _answer(rfs, arguments["dataset"]))


def _answer(rfs: Any, dataset: str | None) -> dict[str, int | str]:
    arrays = {}
    for key, value in rfs["refs"].items():
        if key.endswith("/zarr.json"):
            node = json.loads(value)
            if node["node_type"] == "array":
                arrays[key.removesuffix("/zarr.json")] = node.get("attributes", {}).get(ATTRIBUTE)
    index = rfs.get("indexes", {}).get(dataset)
    if index is not None:
        table = index["index"].reshape(-1, 2)
        table = table[table[:, 0] != MISSING]
    else:
        prefix = f"{dataset}/c/"
        table = np.array([v[1:] for k, v in rfs["refs"].items() if k.startswith(prefix)]).reshape(-1, 2)
    return found(arrays, table[:, 0], table[:, 1])
