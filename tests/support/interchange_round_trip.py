"""Real files through Icechunk and back, and through a version 1 document: one JSON line for each.

Run as a program with a folder for what it writes, and paths on standard input: a file may end the process.
"""

import json
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import h5py
import icechunk
import numpy as np
import zarr
from icechunk_round_trip import back, differences, locations, moved, same

from shadowzarr import generate_rfs, load_rfs, open_rfs, verify_rfs, write_rfs
from shadowzarr.errors import ShadowzarrError, UnsupportedError
from shadowzarr.icechunk import open_repository
from shadowzarr.icechunk.plan import make_plan
from shadowzarr.icechunk.to_icechunk import write_plan

PARTS = ("sources", "skipped", "converted", "hdf5")


def through_icechunk(rfs, folder, *, verify):
    """Into a repository and out of it: values, attributes, places of chunks, and what the document says."""
    plan = make_plan(load_rfs(rfs), url_for=None, copy_selections=False)
    repo = open_repository(folder / "repo", plan.urls)
    session = repo.writable_session("main")
    report = write_plan(plan, session)
    session.commit("references")
    session = repo.readonly_session("main")
    found = differences(rfs, zarr.open_group(session.store, mode="r"))
    again = back(session)
    found += [part for part in PARTS if again.get(part) != rfs.get(part)]
    copied = sum(moved(rfs, again).values())
    if verify:
        found += [str(each) for each in verify_rfs(again).differences]
    return {
        "differences": found,
        "arrays": report.arrays,
        "virtual chunks": report.virtual_chunks,
        "copied chunks": copied,
        "held chunks": report.native_chunks - copied,
    }


def through_version_1(rfs, path, folder):
    """Written as one document and read by fsspec and zarr: equal to h5py, and to our own store."""
    document = folder / "refs.json"
    try:
        write_rfs(rfs, document)
    except UnsupportedError as error:
        return {"refused": str(error)}
    options = {"fo": str(document), "remote_protocol": "file", "asynchronous": True}
    root = zarr.open_group("reference://", mode="r", storage_options=options, use_consolidated=False)
    ours = open_rfs(rfs)
    counts = {"equal to h5py": 0, "equal to our store": 0}
    found = []
    with h5py.File(path) as file:
        for name in locations(rfs):
            kind = compare(root[name], ours[name], file, name) if name else None
            if kind in counts:
                counts[kind] += 1
            elif kind:
                found.append(f"{name}: {kind}")
    return {"differences": found, **counts}


def compare(theirs, ours, file, name):
    if theirs.size > 5_000_000:
        return None  # mostly fill values
    values = theirs[...]
    original = file.get(name)
    if isinstance(original, h5py.Dataset) and original.shape == theirs.shape:
        kind = original.dtype.kind
        if kind in "iufb" and original.dtype.itemsize <= 8 and not original.dtype.metadata:
            expected = original[...].astype(original.dtype.newbyteorder("="))
            is_equal = values.dtype == expected.dtype and values.tobytes() == expected.tobytes()
            return "equal to h5py" if is_equal else "not as h5py reads it"
        if h5py.check_string_dtype(original.dtype) and kind == "O":
            texts = np.asarray(original.asstr(errors="surrogateescape")[...]).tolist()
            return "equal to h5py" if np.asarray(values).tolist() == texts else "not as h5py reads it"
    return "equal to our store" if same(theirs, ours) else "not as our store reads it"


def outcome(path, place):
    try:
        rfs = generate_rfs(path)
    except ShadowzarrError as error:
        return {"unreadable": f"{type(error).__name__}: {error}"}
    with tempfile.TemporaryDirectory(dir=place) as folder:
        return {
            "icechunk": through_icechunk(rfs, Path(folder), verify=True),
            "version 1": through_version_1(rfs, path, Path(folder)),
        }


def main():
    warnings.simplefilter("ignore")
    icechunk.set_logs_filter("error")
    for line in sys.stdin:
        path = Path(line.strip())
        print(json.dumps({"start": str(path)}), flush=True)
        try:
            found = outcome(path, sys.argv[1])
        except (
            Exception
        ):  # whatever it is, it is this file's outcome, which the test refuses; the next has its own
            found = {"failed": traceback.format_exc(limit=-4)}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
