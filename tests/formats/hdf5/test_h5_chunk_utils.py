from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5.h5_chunk_utils import (
    ChunkTable,
    chunk_locations,
    commonest_mask,
    cut_axis,
    inline_chunk_shape,
    slab_height,
)


@pytest.mark.parametrize(
    ("rows", "row_bytes", "target", "height"),
    [
        (1000, 32, 4096, 125),  # 128 fit; 125 divides
        (64, 200, 4096, 16),
        (6000, 4, 4096, 1000),
        (997, 4, 400, 100),  # a prime: the last slab is short
        (10, 10**9, 4096, 1),
        (58 * 4194304, 1, 4194304, 4194304),
        (3, 1, 100, 3),
        (1, 1, 1, 1),
    ],
)
def test_slab_height(rows: int, row_bytes: int, target: int, height: int) -> None:
    assert slab_height(rows, row_bytes, target) == height


def test_a_divisor_is_never_below_half_the_target() -> None:
    for rows in range(1, 500):
        for target in (1, 7, 50, 100):
            height = slab_height(rows, 1, target)
            assert height <= target
            assert rows % height == 0 or height == min(rows, target)
            assert 2 * height >= min(rows, target)


def test_cut_axis() -> None:
    assert cut_axis((5, 3)) == 0
    assert cut_axis((1, 1, 7)) == 2
    assert cut_axis((1, 1)) == 0


@pytest.mark.parametrize(
    ("shape", "edges", "expected"),
    [
        ((100,), (1,), (64,)),
        ((100,), (30,), (60,)),
        ((10,), (30,), (10,)),
        ((10, 6), (1, 1), (10, 6)),
        ((1000, 8), (1, 1), (8, 8)),
        ((1000, 8), (2, 3), (8, 8)),
        ((1000, 200), (500, 200), (500, 200)),  # one chunk of the file is more than the target
        ((0, 5), (1, 1), (1, 5)),
        ((), (), ()),
    ],
)
def test_inline_chunk_shape(
    shape: tuple[int, ...], edges: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert inline_chunk_shape(shape, edges, 1, 64) == expected


def table(path: Path, name: str = "d") -> ChunkTable:
    with h5py.File(path, "r") as f:
        return chunk_locations(f[name].id)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_locations_are_the_bytes_of_the_chunks(path: Path, libver: str) -> None:
    with h5py.File(path, "w", libver=libver) as f:
        d = f.create_dataset("d", (7, 5), "<i4", chunks=(3, 2), maxshape=(None, 5))
        d[...] = np.arange(35).reshape(7, 5)
    found = table(path)
    assert found.coordinates.tolist() == [[i, j] for i in range(3) for j in range(3)]
    data = path.read_bytes()
    values = np.zeros((9, 6), "<i4")
    for (i, j), offset, nbytes in zip(found.coordinates, found.offsets, found.nbytes, strict=True):
        block = np.frombuffer(data[int(offset) : int(offset + nbytes)], "<i4").reshape(3, 2)
        values[3 * i : 3 * i + 3, 2 * j : 2 * j + 2] = block
    assert (values[:7, :5] == np.arange(35).reshape(7, 5)).all()


def test_missing_chunks_and_empty_datasets(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (9,), "i4", chunks=(3,))[3:6] = 1
        f.create_dataset("empty", (0,), "i4", chunks=(3,), maxshape=(None,))
        f.create_dataset("unwritten", (9,), "i4", chunks=(3,))
    assert table(path).coordinates.tolist() == [[1]]
    assert len(table(path, "empty")) == len(table(path, "unwritten")) == 0
    assert table(path, "unwritten").coordinates.shape == (0, 1)


def test_filter_masks(path: Path) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (12,), "<i4", chunks=(4,), compression="gzip", shuffle=True)
        d[...] = 1
        d.id.write_direct_chunk((4,), bytes(16), filter_mask=0b11)
    assert table(path).filter_masks.tolist() == [0, 3, 0]
    assert commonest_mask(table(path)) == 0


def test_the_index_is_walked_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=np.arange(5000), chunks=(1,))
    with h5py.File(path, "r") as f:
        asked = []

        class Counting:
            shape = f["d"].shape

            def __getattr__(self, name: str) -> object:
                asked.append(name)
                return getattr(f["d"].id, name)

        assert len(chunk_locations(Counting())) == 5000  # type: ignore[arg-type]
    assert asked.count("chunk_iter") == 1
    assert set(asked) <= {"chunk_iter", "get_create_plist", "get_space"}  # of which one walks the index
