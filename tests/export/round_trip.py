"""Files there and back in a process of their own: generate, write, load, to_hdf5, compare.

    python round_trip.py FOLDER < LIST      prints one JSON object a line, for each path in LIST

Run so, because a damaged file or a filter plug-in may end the process.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path

from h5compare import compare


def round_trip(source, folder):
    from shadowzarr import generate_rfs, to_hdf5, write_rfs
    from shadowzarr.errors import SourceError

    folder = Path(folder)
    try:
        rfs = generate_rfs(source)
    except SourceError as error:
        return {"refused": str(error)}
    document = folder / "refs.json"
    write_rfs(rfs, document)
    made = folder / "made.h5"
    report = to_hdf5(document, made)
    section = rfs["hdf5"]
    return {
        "differences": compare(source, made),
        "left_out": [[remark.path, remark.what] for remark in report.left_out],
        "changed": [[remark.path, remark.what] for remark in report.changed],
        "not_described": section.get("notDescribed", []),
        "section_bytes": len(json.dumps(section)),
        "document_bytes": document.stat().st_size,
        "copied": report.chunks_copied,
        "written": report.pieces_written,
    }


def outcome(source, folder):
    try:
        return round_trip(source, folder)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        with tempfile.TemporaryDirectory(dir=sys.argv[1]) as own:
            print(json.dumps(outcome(line.strip(), own)), flush=True)
