"""Chunks of datasets that grow along one axis: HDF5 reports them in the wrong places."""

import itertools
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5.h5_chunk_utils import listed_by_hdf5
from shadowzarr.verify import verify_rfs

SHAPE, EDGES = (3, 4, 5), (1, 2, 2)
LIMITS = list(itertools.product((3, 5, None), (4, 7, None), (5, 8, None)))


def write(path: Path, maxshape: tuple, libver: str, **options) -> None:
    with h5py.File(path, "w", libver=libver) as file:
        made = file.create_dataset("d", SHAPE, "<i4", chunks=EDGES, maxshape=maxshape, **options)
        for number, place in enumerate(np.ndindex(3, 2, 3), start=1):
            made[tuple(slice(at * n, (at + 1) * n) for at, n in zip(place, EDGES, strict=True))] = number


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("maxshape", LIMITS, ids=str)
def test_every_chunk_is_where_it_is_read(path: Path, libver: str, maxshape: tuple) -> None:
    write(path, maxshape, libver)
    with h5py.File(path) as file:
        table = listed_by_hdf5(file["d"].id)
        assert table.coordinates.tolist() == [list(place) for place in np.ndindex(3, 2, 3)]
        raw = path.read_bytes()
        first = [int.from_bytes(raw[at : at + 4], "little") for at in table.offsets.tolist()]
        assert first == list(range(1, 19))


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_only_some_chunks_are_there(path: Path, libver: str) -> None:
    for written in ([(0, 1)], [(1, 0)], [(0, 0), (0, 2)], [(1, 1), (0, 2)], []):
        with h5py.File(path, "w", libver=libver) as file:
            made = file.create_dataset("d", (4, 6), "<i4", chunks=(2, 2), maxshape=(4, None))
            for row, column in written:
                made[2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = 7
        with h5py.File(path) as file:
            found = listed_by_hdf5(file["d"].id).coordinates.tolist()
        assert found == sorted(map(list, written))


def test_values_are_right(path: Path, generate) -> None:
    values = np.arange(4000, dtype="<i4").reshape(40, 100)
    with h5py.File(path, "w", libver="latest") as file:
        file.create_dataset("d", data=values, chunks=(20, 10), maxshape=(40, None), compression="gzip")
        file.create_dataset(
            "t", data=values[:4, :6].astype(str).astype(object), chunks=(2, 2), maxshape=(4, None)
        )
    made = generate()
    np.testing.assert_array_equal(made["d"], values)
    np.testing.assert_array_equal(made["t"].astype(object), values[:4, :6].astype(str).astype(object))
    assert verify_rfs(made.rfs, mode="full").equal
