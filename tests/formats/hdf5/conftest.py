"""What the tests of the HDF5 generator share: files made on the spot, and reading references back."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import zarr
from h5py import h5d, h5s

from shadowzarr.attributes import decode_attributes
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.store.open_rfs import open_rfs


class ReadBack:
    """A generated document, as zarr shows it."""

    def __init__(self, rfs: dict[str, Any]) -> None:
        self.rfs = rfs
        self.root: zarr.Group = open_rfs(rfs)

    def __getitem__(self, path: str) -> np.ndarray:
        return self.root[path][...]

    def metadata(self, path: str) -> dict[str, Any]:
        return json.loads(self.rfs["refs"][f"{path}/zarr.json" if path else "zarr.json"])

    def attributes(self, path: str = "") -> dict[str, Any]:
        return decode_attributes(self.metadata(path)["attributes"])

    def codecs(self, path: str) -> list[str]:
        return [codec["name"] for codec in self.metadata(path)["codecs"]]

    def chunks(self, path: str) -> dict[str, Any]:
        """References and inline values of an array, by the part of the key after ``c``."""
        head = f"{path}/c"
        return {
            key.removeprefix(head).strip("/"): value
            for key, value in self.rfs["refs"].items()
            if key == head or key.startswith(f"{head}/")
        }

    def is_inline(self, path: str) -> bool:
        chunks = self.chunks(path)
        return bool(chunks) and all(isinstance(value, str) for value in chunks.values())

    def skipped(self) -> dict[str, str]:
        return {entry["path"]: entry["reason"] for entry in self.rfs.get("skipped", [])}

    def converted(self) -> dict[str, str]:
        return {entry["path"]: entry["what"] for entry in self.rfs.get("converted", [])}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.h5"


@pytest.fixture
def generate(path: Path) -> Callable[..., ReadBack]:
    """Generate references for the file at `path` and open them."""

    def run(**options: Any) -> ReadBack:
        return ReadBack(generate_rfs(path, **options))

    return run


@pytest.fixture
def one_dataset(path: Path) -> Callable[..., Any]:
    """A file with one dataset of a low-level type, opened for reading."""

    @contextmanager
    def make(
        tid: Any, shape: tuple[int, ...] = (3,), *, raw: bytes | None = None, dcpl: Any = None
    ) -> Iterator[Any]:
        low_level(path, "d", tid, shape, raw=raw, dcpl=dcpl)
        with h5py.File(path, "r") as file:
            yield file["d"]

    return make


def low_level(
    path: Path, name: str, tid: Any, shape: tuple[int, ...], *, raw: bytes | None = None, dcpl: Any = None
) -> None:
    """Add a dataset of a type that h5py's high level cannot make, with these stored bytes."""
    with h5py.File(path, "a") as file:
        space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
        dataset = h5d.create(file.id, name.encode(), tid, space, dcpl)
        if raw is not None:
            values = np.frombuffer(raw, f"V{tid.get_size()}").reshape(shape).copy()
            dataset.write(h5s.ALL, h5s.ALL, values, tid)


@pytest.fixture
def add_low_level(path: Path) -> Callable[..., None]:
    def add(name: str, tid: Any, shape: tuple[int, ...] = (3,), **options: Any) -> None:
        low_level(path, name, tid, shape, **options)

    return add
