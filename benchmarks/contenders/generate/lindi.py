"""LINDI with all chunks in its document; runs in an environment of its own, since it needs zarr 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lindi import LindiH5pyFile, LindiH5ZarrStoreOpts

from benchmarks.measure.prepared import Prepared

from .found import from_kerchunk

OPTIONS = LindiH5ZarrStoreOpts(num_dataset_chunks_threshold=None)


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Warm up with the small file."""
    _generate(arguments["warm_up"], None)
    output = f"{arguments['output']}.lindi.json" if arguments["is_written"] else None
    return Prepared(
        lambda: _generate(arguments["source"], output), lambda made: _answer(made, arguments["dataset"])
    )


def _generate(source: str, output: str | None) -> Any:
    """The document, or the path that it was written to."""
    file = LindiH5pyFile.from_hdf5_file(source, zarr_store_opts=OPTIONS, url=source)
    if output is None:
        return file.to_reference_file_system()
    file.write_lindi_file(output)
    return output


def _answer(made: Any, dataset: str | None) -> dict[str, int | str]:
    document = json.loads(Path(made).read_text()) if isinstance(made, str) else made
    return from_kerchunk(document["refs"], dataset)
