"""References through Icechunk and back, and what must be the same then."""

import json
import warnings
from pathlib import Path

import numpy as np
import zarr

from shadowzarr import Rfs, open_rfs
from shadowzarr.icechunk import icechunk_to_rfs, open_repository, rfs_to_icechunk
from shadowzarr.store.chunk_table import HELD, ChunkTables
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.store.locate import Locator


def written(rfs: Rfs, folder: Path, source: str, **options):
    """A session that holds references, committed, and the report of writing them."""
    repo = open_repository(folder, [source])
    session = repo.writable_session("main")
    report = rfs_to_icechunk(rfs, session, **options)
    session.commit("references")
    return repo.readonly_session("main"), report


def locations(rfs: Rfs) -> dict[str, set[tuple]]:
    """Where each array's chunks are: (place in the grid, file, offset, length); those held have no file."""
    loaded = load_rfs(rfs)
    locator = Locator(loaded)
    tables = ChunkTables(loaded, locator)
    found = {}
    for key in loaded["refs"]:
        if key != "zarr.json" and not key.endswith("/zarr.json"):
            continue
        path = key.removesuffix("zarr.json").rstrip("/")
        if locator.metadata(key)["node_type"] == "array":
            table = tables.table(path)
            files = ["" if n == HELD else tables.files[n] for n in table.files.tolist()]
            columns = (table.positions, table.offsets, table.lengths)
            places, offsets, lengths = (column.tolist() for column in columns)
            found[path] = set(zip(places, files, offsets, lengths, strict=True))
    return found


def moved(before: Rfs, after: Rfs) -> dict[str, int]:
    """How many chunks of each array are held after, and were in a file before; no other may differ."""
    one, other = locations(before), locations(after)
    assert one.keys() == other.keys()
    copied = {}
    for path in one:
        gone, new = one[path] - other[path], other[path] - one[path]
        assert {place for place, *_ in gone} == {place for place, *_ in new}, path
        assert all(file == "" for _, file, *_ in new), (path, new)
        if gone:
            copied[path] = len(gone)
    return copied


def differences(rfs: Rfs, root: zarr.Group) -> list[str]:
    """Nodes whose values, types or attributes another group of the same tree shows otherwise."""
    ours = open_rfs(rfs, strict_json=True)
    found = []
    names = {name for name, _ in ours.members(max_depth=None)}
    if names != {name for name, _ in root.members(max_depth=None)}:
        found.append("members")
    for name, node in [("", ours), *ours.members(max_depth=None)]:
        other = root[name] if name else root
        if json.dumps(dict(node.attrs)) != json.dumps(dict(other.attrs)):
            found.append(f"{name}: attributes")
        if isinstance(node, zarr.Array) and not same(node, other):
            found.append(f"{name}: values")
    return found


def same(one: zarr.Array, other: zarr.Array) -> bool:
    """Whether two arrays are equal, NaN and all."""
    if (one.shape, one.dtype, one.chunks) != (other.shape, other.dtype, other.chunks):
        return False
    if one.size > 5_000_000:
        return True  # mostly fill values: its chunks' locations are compared
    with warnings.catch_warnings(action="ignore"):
        values, others = one[...], other[...]
    try:
        return np.array_equal(values, others) or np.asarray(values).tobytes() == np.asarray(others).tobytes()
    except TypeError:
        return repr(values) == repr(others)


def back(session, **options) -> Rfs:
    """References out of a session."""
    return icechunk_to_rfs(session, **options)
