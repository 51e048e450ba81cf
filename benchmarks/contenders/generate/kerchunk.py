"""kerchunk's HDF5 translator, over fsspec with small blocks: its default fetches 5 MiB at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
from kerchunk.df import refs_to_dataframe
from kerchunk.hdf import SingleHdf5ToZarr

from benchmarks.measure.prepared import Prepared

from .found import from_kerchunk

HTTP = {"block_size": 64 * 1024, "cache_type": "blockcache"}
RECORD_SIZE = 100_000
"""References in one Parquet file; its default."""


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Warm up with the small file."""
    translate(arguments["warm_up"])
    output = Path(arguments["output"])

    def run() -> Any:
        if not arguments["is_written"]:
            return translate(arguments["source"])
        references = translate(arguments["source"])
        if arguments["form"] == "parquet":
            write_parquet(references, output)
        else:
            output.write_text(json.dumps(references))
        return references

    return Prepared(run, lambda made: from_kerchunk(made["refs"], arguments["dataset"]))


def translate(source: str, url: str | None = None) -> Any:
    """Make a kerchunk document that names the source, or an URL in its place."""
    options = HTTP if source.startswith("http") else {}
    with fsspec.open(source, "rb", **options) as file:
        translator = SingleHdf5ToZarr(file, url=url or source, error="ignore", inline_threshold=0)
        return translator.translate()


def write_parquet(references: Any, output: Path) -> None:
    """Write references as Parquet.

    Its translator can also write Parquet as it goes, but not over zarr 3 (0.2.10).
    """
    output.mkdir(parents=True)
    refs_to_dataframe(references, str(output), record_size=RECORD_SIZE)
