"""shadowzarr: ``open_rfs`` at its defaults."""

from __future__ import annotations

from typing import Any

from benchmarks.measure.prepared import Prepared
from shadowzarr import open_rfs

from .selections import prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Open the directory."""
    return prepared(lambda place: open_rfs(f"{place['references']}.shadowzarr")[place["dataset"]], arguments)
