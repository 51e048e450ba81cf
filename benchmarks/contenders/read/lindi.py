"""LINDI's own reader, which looks like h5py; runs in an environment of its own."""

from __future__ import annotations

from typing import Any

from lindi import LindiH5pyFile

from benchmarks.measure.prepared import Prepared

from .selections import prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Open its JSON."""
    return prepared(
        lambda place: LindiH5pyFile.from_lindi_file(f"{place['references']}.lindi.json")[place["dataset"]],
        arguments,
    )
