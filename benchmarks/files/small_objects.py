"""A file of many small datasets with strings and attributes, as tables of metadata come out."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

PER_GROUP = 10
_VALUES = 280


def write_small_objects(path: Path, *, objects: int) -> None:
    """Write groups of ten datasets, every fifth of them text; each has five attributes."""
    random = np.random.default_rng(6)
    with h5py.File(path, "w") as file:
        for number in range(objects):
            group = file.require_group(f"group{number // PER_GROUP:04d}")
            name = f"object{number:05d}"
            if number % 5 == 4:
                words = [f"label {number}-{each} of an electrode" for each in range(40)]
                data = group.create_dataset(name, data=words, dtype=h5py.string_dtype())
            else:
                data = group.create_dataset(name, data=random.normal(size=_VALUES))
            data.attrs["unit"] = f"unit {number % 17}"
            data.attrs["description"] = f"Small object {number}, described in a sentence of its own length"
            data.attrs["conversion"] = 1.0 / (number + 1)
            data.attrs["comments"] = "no comments"
            data.attrs["object_id"] = f"00000000-0000-4000-8000-{number:012d}"
