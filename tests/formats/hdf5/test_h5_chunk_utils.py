from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5 import h5_chunk_utils
from shadowzarr.formats.hdf5.chunk_index import IndexRefusedError
from shadowzarr.formats.hdf5.h5_chunk_utils import (
    ChunkTable,
    chunk_locations,
    commonest_mask,
    inline_chunk_shape,
    listed_by_hdf5,
)
from shadowzarr.formats.hdf5.reasons import CannotRepresentError


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


def test_hdf5_walks_an_index_once(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=np.arange(5000), chunks=(1,))
    with h5py.File(path, "r") as f:
        asked = []

        class Counting:
            shape = f["d"].shape

            def __getattr__(self, name: str) -> object:
                asked.append(name)
                return getattr(f["d"].id, name)

        assert len(listed_by_hdf5(Counting())) == 5000  # type: ignore[arg-type]
    assert asked.count("chunk_iter") == 1
    assert set(asked) <= {"chunk_iter", "get_create_plist", "get_space"}  # of which one walks the index


def test_hdf5_is_not_asked_for_chunks_of_a_file_that_can_be_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=np.arange(50), chunks=(1,))
    monkeypatch.setattr(h5_chunk_utils, "listed_by_hdf5", None)
    assert len(table(path)) == 50


def test_hdf5_is_asked_while_the_file_is_open_for_writing(path: Path) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (50,), "i4", chunks=(5,))
        d[:12] = 1
        assert len(chunk_locations(d.id)) == 3  # nothing of it is on disk yet


def test_an_index_that_is_not_understood_is_listed_by_hdf5(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=np.arange(50), chunks=(1,))
    expected = table(path)

    def refuse(_dataset: object) -> None:
        raise IndexRefusedError("a chunk index of type 9")

    monkeypatch.setattr(h5_chunk_utils, "stored_table", refuse)
    with caplog.at_level("DEBUG", logger="shadowzarr.chunk_index"):
        found = table(path)
    assert (found.offsets == expected.offsets).all()
    assert "a chunk index of type 9" in caplog.text


def test_a_damaged_index_is_no_table(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=np.arange(50), chunks=(1,))
    data = bytearray(path.read_bytes())
    key = data.index(b"TREE\x01") + 24 + 3 * 32 + 8  # where the fourth chunk begins
    assert data[key] == 3
    data[key] = 40
    path.write_bytes(data)
    with pytest.raises(CannotRepresentError, match="its chunk index is damaged: .* not in order"):
        table(path)
    with h5py.File(path) as f:
        assert len(listed_by_hdf5(f["d"].id)) == 50  # which says nothing of what it finds by coordinates
        assert f["d"][3] == 0
