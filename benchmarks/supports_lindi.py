"""The dataset ``x`` of a file as LINDI reads it from its own references, as JSON; runs where LINDI is."""

from __future__ import annotations

import json
import sys

from lindi import LindiH5pyFile

from benchmarks.contenders.generate.lindi import OPTIONS
from benchmarks.supports_values import as_lists

if __name__ == "__main__":
    made = LindiH5pyFile.from_hdf5_file(sys.argv[1], zarr_store_opts=OPTIONS, url=sys.argv[1])
    opened = LindiH5pyFile.from_reference_file_system(made.to_reference_file_system())
    found = opened["x"]
    if found.dtype.names is None:
        print(json.dumps(as_lists(found, opened)))
    else:  # its datasets of compounds are read a field at a time
        fields = [as_lists(found[name], opened) for name in found.dtype.names]
        print(json.dumps([list(row) for row in zip(*fields, strict=True)]))
