"""kerchunk's JSON and its Parquet."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from benchmarks.contenders.generate.kerchunk import translate, write_parquet
from benchmarks.measure.prepared import Prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Nothing is warmed up."""
    return Prepared(lambda: _make(arguments), lambda made: made)


def _make(arguments: dict[str, Any]) -> None:
    target = arguments["target"]
    references = translate(arguments["path"], arguments["source"])
    Path(f"{target}.kerchunk.json").write_text(json.dumps(references))
    parquet = Path(f"{target}.kerchunk.parq")
    shutil.rmtree(parquet, ignore_errors=True)
    write_parquet(references, parquet)
