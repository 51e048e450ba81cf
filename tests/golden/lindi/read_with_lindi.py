"""Run by LINDI's own interpreter: reads reference files with the real package and compares them with h5py.

``read_with_lindi.py REFERENCES HDF5`` prints JSON: what was compared, what differs, and the names that only
one of the two has. It imports nothing of this repository.
"""

import json
import sys
from pathlib import Path

import h5py
import lindi
import numpy as np


def names(group, path=""):
    """Paths of all groups and datasets; links as names of their own."""
    found = {}
    for name in group:
        item = group[name]
        here = f"{path}/{name}"
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            found[here] = ("link", None)
        elif isinstance(item, h5py.Dataset):
            found[here] = ("dataset", item)
        else:
            found[here] = ("group", item)
            found |= names(item, here)
    return found


def plain(value):
    """Text as str, so that the two readers' ways of giving it are one."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray) and value.dtype.kind in "OSU":
        return [plain(item) for item in value.tolist()]
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, h5py.Reference):
        return getattr(value, "_path", value)
    return value


def same(ours, theirs, file):
    """Whether LINDI's value is h5py's; references are compared by path."""
    if isinstance(theirs, h5py.Reference):
        return ours._path == file[theirs].name
    if isinstance(theirs, np.ndarray) and theirs.dtype == object and theirs.size:
        pairs = zip(np.asarray(ours, object).reshape(-1), theirs.reshape(-1), strict=True)
        return all(
            same(a, b, file) if isinstance(b, h5py.Reference) else plain(a) == plain(b) for a, b in pairs
        )
    if isinstance(theirs, np.ndarray) and theirs.dtype.kind in "iufb":
        equal = np.array_equal(np.asarray(ours), theirs, equal_nan=theirs.dtype.kind == "f")
        return equal and np.asarray(ours).dtype == theirs.dtype
    if isinstance(theirs, float | np.floating) and np.isnan(theirs):
        return bool(np.isnan(ours))
    return bool(np.all(plain(ours) == plain(theirs)))


def compare_values(ours, theirs, file):
    if theirs.dtype.names is not None:
        return all(same_field(ours[name][:], theirs[name][:], file) for name in theirs.dtype.names)
    whole = () if theirs.shape == () else slice(None)
    return ours.shape == theirs.shape and same(ours[whole], theirs[whole], file)


def same_field(ours, theirs, file):
    if theirs.dtype == object and theirs.size and isinstance(theirs[0], h5py.Reference):
        return all(a._path == file[b].name for a, b in zip(ours, theirs, strict=True))
    return (
        plain(np.asarray(ours)) == plain(theirs)
        if theirs.dtype.kind in "OS"
        else np.array_equal(ours, theirs)
    )


def main(references, hdf5):
    document = json.loads(Path(references).read_text())
    client = lindi.LindiH5pyFile.from_reference_file_system(document)
    report = {"compared": 0, "attributes": 0, "differ": [], "only": []}
    with h5py.File(hdf5) as file:
        ours, theirs = names(client), names(file)
        report["only"] = sorted(ours.keys() ^ theirs.keys())
        for path in sorted(ours.keys() & theirs.keys()):
            (kind, mine), (other, original) = ours[path], theirs[path]
            report["compared"] += 1
            if kind != other or (kind == "dataset" and not compare_values(mine, original, file)):
                report["differ"].append(path)
            if kind == "link":
                continue
            for name in original.attrs:
                report["attributes"] += 1
                if name not in mine.attrs:
                    report["only"].append(f"{path}@{name}")
                elif not same_attribute(mine.attrs[name], original.attrs[name], file):
                    report["differ"].append(f"{path}@{name}")
    print(json.dumps(report))


def same_attribute(ours, theirs, file):
    if isinstance(theirs, np.ndarray) and theirs.dtype.kind in "iuf":
        return np.array_equal(np.asarray(ours), theirs)  # LINDI keeps 64 bits of any number
    return same(ours, theirs, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
