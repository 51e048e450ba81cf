"""LINDI's JSON with all chunks."""

from __future__ import annotations

from typing import Any

from lindi import LindiH5pyFile

from benchmarks.contenders.generate.lindi import OPTIONS
from benchmarks.measure.prepared import Prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Nothing is warmed up."""
    return Prepared(lambda: _make(arguments), lambda made: made)


def _make(arguments: dict[str, Any]) -> None:
    file = LindiH5pyFile.from_hdf5_file(arguments["path"], zarr_store_opts=OPTIONS, url=arguments["source"])
    file.write_lindi_file(f"{arguments['target']}.lindi.json")
