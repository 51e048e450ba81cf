"""Arrays as an original: what a raw binary file holds, as `numpy.memmap` shows it, or what a program has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import UsageError
from .arrays import OriginalArray, ReadRegion, compare_arrays
from .original import Choice
from .references import References
from .regions import Region
from .tally import Tally


class MemoryOriginal:
    """Arrays that references are compared with; see `original.Original`.

    Parameters
    ----------
    arrays : mapping of str to array
        By their paths; with or without a leading slash. Whatever has ``shape``, ``dtype`` and slices is an
        array, and is read a region at a time.

    Raises
    ------
    UsageError
        When there is none, or one of them is no array of numbers.
    """

    name = "arrays in memory"
    """What a report calls it."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        if not arrays:
            raise UsageError("against holds no arrays; give them by their paths in the references")
        self._arrays: dict[str, OriginalArray] = {}
        for path, array in arrays.items():
            plain = path.strip("/")
            if plain in self._arrays:
                raise UsageError(f"against holds {plain!r} twice, with and without a slash")
            self._arrays[plain] = _original_array(path, array)

    def compare(self, references: References, tally: Tally, choice: Choice) -> None:
        """Compare shapes, data types and values; the references must hold no other arrays."""
        compare_arrays(self._arrays, references, tally, choice)


def _original_array(path: str, array: Any) -> OriginalArray:
    shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
    if not isinstance(shape, tuple) or not isinstance(dtype, np.dtype) or dtype.hasobject:
        found = f"an array of {dtype}" if isinstance(dtype, np.dtype) else f"a {type(array).__name__}"
        raise UsageError(f"against[{path!r}] is {found}; expected an array of numbers")

    def read(region: Region) -> Any:
        return np.asarray(array[region] if region else array[()], dtype)

    def opened() -> ReadRegion:
        return read

    return OriginalArray(tuple(map(int, shape)), dtype, opened)
