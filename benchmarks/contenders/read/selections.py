"""Open an array, read what is asked for, and put it in a form that can be compared (needs numpy alone)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.measure.prepared import Prepared

OpenArray = Callable[[dict[str, str]], Any]
"""Opens the dataset of a place, as something to be indexed."""


def prepared(open_array: OpenArray, arguments: dict[str, Any]) -> Prepared:
    """Warm up with the small file; what is timed is opening and reading."""
    np.asarray(open_array(arguments["warm_up"])[:10])
    selections = [slices(each) for each in arguments["selections"]]

    def run() -> list[Any]:
        array = open_array(arguments["place"])
        return [array[each] for each in selections]

    return Prepared(run, digest)


def slices(selection: Iterable[tuple[int, int]]) -> tuple[slice, ...]:
    """Start and stop of each axis as Python has it."""
    return tuple(slice(start, stop) for start, stop in selection)


def digest(values: Iterable[Any]) -> str:
    """Of all values in their order."""
    found = hashlib.sha256()
    for each in values:
        found.update(np.ascontiguousarray(np.asarray(each), dtype=np.int16))
    return found.hexdigest()[:16]
