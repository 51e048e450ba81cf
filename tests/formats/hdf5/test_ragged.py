from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pytest


def items(made: object, name: str) -> list[list]:
    values, offsets = made[f"{name}/values"], made[f"{name}/offsets"]  # type: ignore[index]
    return [values[a:b].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize("dtype", ["<i4", "<f8", "u1", "?"])
def test_sequences_of_numbers(path: Path, generate: Callable, dtype: str) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (3,), h5py.vlen_dtype(np.dtype(dtype)))
        d[0], d[2] = np.array([1, 0, 1], dtype), np.array([0], dtype)
        d.attrs["unit"] = "V"
    made = generate()
    assert items(made, "d") == [[1, 0, 1], [], [0]]
    assert made.attributes("d") == {"unit": "V", "_RAGGED": {"shape": [3]}}
    assert made["d/values"].dtype == np.dtype(dtype).newbyteorder("=")


def test_two_dimensions_chunked_and_partly_written(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (2, 3), h5py.vlen_dtype("i8"), chunks=(1, 2))
        d[1, 1] = [5, 6]
    assert items(generate(), "d") == [[], [], [], [], [5, 6], []]


def test_a_scalar_and_none_at_all(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("scalar", (), h5py.vlen_dtype("i4"))[()] = np.array([1, 2], "i4")
        f.create_dataset("unwritten", (2,), h5py.vlen_dtype("i4"))
        f.create_dataset("empty", (0,), h5py.vlen_dtype("i4"))
    made = generate()
    assert items(made, "scalar") == [[1, 2]]
    assert made.attributes("scalar")["_RAGGED"] == {"shape": []}
    assert items(made, "unwritten") == [[], []]
    assert items(made, "empty") == []


def test_sequences_of_references(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["x"] = 1
        d = f.create_dataset("d", (2,), h5py.vlen_dtype(h5py.ref_dtype))
        references = np.empty(2, object)
        references[:] = [f["x"].ref, f.ref]
        d[1] = references
    made = generate()
    assert items(made, "d") == [[], ["/x", "/"]]
    assert made.attributes("d/values") == {"_DTYPE": "object_reference"}


def test_many_values_are_cut(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (2,), h5py.vlen_dtype("f8"))
        d[0], d[1] = np.arange(400_000), np.arange(300_000)
    made = generate()
    assert len(made.chunks("d/values")) == 2
    assert made["d/values"][-1] == 299_999


def test_sequences_that_h5py_misreads_are_named(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (2,), h5py.vlen_dtype(np.dtype(">f8")))[0] = np.array([1.0], ">f8")
        f.attrs.create("a", f["d"][()], dtype=h5py.vlen_dtype(np.dtype(">f8")))
    skipped = generate().skipped()
    assert "big-endian" in skipped["/d"]
    assert "big-endian" in skipped["/@a"]
