"""Materialized stores, and what must be the same in them."""

import json

import numpy as np
import zarr

from shadowzarr import open_rfs
from shadowzarr.export.materialize.fill import same


def chunk_files(folder, path):
    """Chunk keys of an array in a folder."""
    place = folder / path
    return sorted(
        file.relative_to(place).as_posix()
        for file in place.rglob("*")
        if file.is_file() and file.name != "zarr.json"
    )


def differences(refs, root):
    """Nodes whose values, types or attributes a store shows otherwise than the references do."""
    ours = open_rfs(refs, strict_json=True)
    found = []
    members = dict(ours.members(max_depth=None))
    if members.keys() != dict(root.members(max_depth=None)).keys():
        found.append("members")
    for name, node in {"": ours, **members}.items():
        other = root[name] if name else root
        if json.dumps(dict(node.attrs)) != json.dumps(dict(other.attrs)):
            found.append(f"{name}: attributes")
        if isinstance(node, zarr.Array) and not same(np.asarray(node[...]), np.asarray(other[...])):
            found.append(f"{name}: values")
        if (
            isinstance(node, zarr.Array)
            and (node.fill_value != other.fill_value)
            and node.fill_value == node.fill_value
        ):
            found.append(f"{name}: fill value")
    return found
