"""Values are the same in either memory order, and columns come in Fortran order."""

import pickle

import h5py
import numpy as np
import pytest
import zarr

from shadowzarr import generate_rfs, open_rfs
from shadowzarr.errors import UsageError
from shadowzarr.store.memory_order import suits_columns


@pytest.mark.parametrize(
    ("shape", "chunks", "itemsize", "is_column"),
    [
        ((600_000, 384), (65_536, 1), 2, True),
        ((600_000, 384), (7_168, 8), 2, True),
        ((600_000, 384), (7_168, 32), 2, False),  # 64 bytes side by side in C order
        ((600_000, 384), (255, 1), 2, False),  # a short column
        ((600_000, 384), (256, 1), 2, True),
        ((600_000, 384), (1_000, 384), 2, False),  # whole rows
        ((600_000, 3), (65_536, 3), 2, False),  # whole rows too, though they are short
        ((600_000, 1), (65_536, 1), 2, False),
        ((600_000,), (65_536,), 8, False),
        ((), (), 8, False),
        ((1_000, 512, 512), (1, 512, 512), 2, False),  # frames
        ((100_000, 64, 4), (4_096, 1, 1), 4, True),
        ((600_000, 384), (65_536, 1), 64, False),
        ((0, 384), (65_536, 1), 2, False),
    ],
)
def test_which_chunks_are_columns(shape, chunks, itemsize, is_column):
    assert suits_columns(shape, chunks, itemsize) is is_column


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "x.h5"
    values = np.random.default_rng(3).integers(-9, 9, (2_000, 6)).astype("i2")
    with h5py.File(path, "w") as file:
        file.create_dataset("deep/columns", data=values, chunks=(512, 1), compression="gzip")
        file.create_dataset("rows", data=values, chunks=(512, 6))
    return generate_rfs(path), values


def test_columns_in_fortran_order_wherever_the_array_comes_from(recording):
    rfs, values = recording
    root = open_rfs(rfs)
    found = [
        root["deep/columns"],
        root["deep"]["columns"],
        dict(root["deep"].arrays())["columns"],
        dict(root.members(max_depth=None))["deep/columns"],
        root.get("deep/columns"),
        pickle.loads(pickle.dumps(root))["deep/columns"],
        pickle.loads(pickle.dumps(root["deep/columns"])),
    ]
    for array in found:
        assert type(array) is zarr.Array
        read = array[100:1_900]
        assert read.flags.f_contiguous
        np.testing.assert_array_equal(read, values[100:1_900])
    np.testing.assert_array_equal(found[0].oindex[[3, 700, 1_500], :], values[[3, 700, 1_500]])
    np.testing.assert_array_equal(found[0].vindex[[3, 700], [5, 0]], values[[3, 700], [5, 0]])
    assert root["rows"][:].flags.c_contiguous


def test_c_order_when_it_is_asked_for(recording):
    rfs, values = recording
    read = open_rfs(rfs, memory_order="C")["deep/columns"][:]
    assert read.flags.c_contiguous
    np.testing.assert_array_equal(read, values)


def test_another_order_is_refused(recording):
    with pytest.raises(UsageError, match='"auto" or "C"'):
        open_rfs(recording[0], memory_order="K")
