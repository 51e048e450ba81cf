"""h5py over remfile, or alone on a local path: walking the file, which every tool on h5py has to."""

from __future__ import annotations

from typing import Any

import h5py
from remfile import File

from benchmarks.files.chunk_values import chunk_table
from benchmarks.measure.prepared import Prepared

from .found import ATTRIBUTE, found


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Warm up with the small file."""
    dataset = arguments["dataset"]
    walk(arguments["warm_up"], None)
    return Prepared(lambda: walk(arguments["source"], dataset), lambda answer: found(*answer))


def walk(source: str, dataset: str | None) -> tuple[dict[str, Any], Any, Any]:
    """Every attribute of every object, and the chunks of all datasets; keeps those of one."""
    arrays: dict[str, Any] = {}
    kept: tuple[Any, Any] = ((), ())

    def visit(name: str, node: Any) -> None:
        nonlocal kept
        attributes = dict(node.attrs)
        if isinstance(node, h5py.Dataset):
            arrays[name] = attributes.get(ATTRIBUTE)
            if node.chunks is not None:
                table = chunk_table(node)
                kept = table if name == dataset else kept

    with h5py.File(File(source) if source.startswith("http") else source) as file:
        file.visititems(visit)
    return arrays, *kept
