from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.access.remfile import Remfile
from shadowzarr.access.sources import describe
from shadowzarr.formats.hdf5 import h5_chunk_utils, stored_file
from shadowzarr.formats.hdf5.chunk_table import ChunkTable
from shadowzarr.formats.hdf5.h5_chunk_utils import chunk_locations
from shadowzarr.formats.hdf5.inventory import address_of
from shadowzarr.formats.hdf5.stored_file import registered, stored_table
from shadowzarr.testing.range_server import RangeServer


@pytest.fixture
def remote(path: Path) -> Iterator[Remfile]:
    with h5py.File(path, "w", libver="latest", userblock_size=512) as file:
        file.create_dataset("d", data=np.arange(9000), chunks=(1,), maxshape=(None,))
    with RangeServer(path.parent) as server, Remfile(describe(server.url(path.name))) as stream:
        yield stream


def test_a_file_object_is_known_while_it_is_registered(remote: Remfile, path: Path) -> None:
    with h5py.File(path) as file:
        expected = stored_table(file["d"].id)
    with h5py.File(remote, "r") as file:
        assert stored_table(file["d"].id) is None
        with registered(file.id, remote):
            found = stored_table(file["d"].id)
        assert stored_table(file["d"].id) is None
    assert expected is not None
    assert found is not None
    assert (found.offsets == expected.offsets).all()
    assert (found.coordinates == expected.coordinates).all()


def test_levels_of_a_remote_index_are_rounds_of_requests(path: Path) -> None:
    with h5py.File(path, "w") as file:
        made = file.create_dataset("d", (9000, 300), "i4", chunks=(1, 300))
        made[...] = 1
    with (
        RangeServer(path.parent) as server,
        Remfile(describe(server.url(path.name))) as stream,
        h5py.File(stream, "r") as file,
        registered(file.id, stream),
    ):
        dataset = file["d"].id
        before = stream.serial_depth
        assert len(chunk_locations(dataset)) == 9000
        assert stream.serial_depth - before <= 3


def test_tables_that_are_known_are_not_looked_for(remote: Remfile) -> None:
    nothing = np.zeros(0, np.uint64)
    table = ChunkTable(np.zeros((0, 1), np.int64), nothing, nothing, nothing.astype(np.uint32))
    with h5py.File(remote, "r") as file:
        address = address_of(file["d"].id)
        with registered(file.id, remote, {address: table}):
            assert stored_table(file["d"].id) is table
        with registered(file.id, remote, {address + 1: table}):
            assert len(stored_table(file["d"].id) or ()) == 9000


def test_files_that_may_change_are_left_to_hdf5(path: Path) -> None:
    with h5py.File(path, "w", libver="latest") as file:
        made = file.create_dataset("d", data=np.arange(10), chunks=(1,), maxshape=(None,))
        assert stored_table(made.id) is None
        file.swmr_mode = True
        with h5py.File(path, "r", swmr=True, libver="latest") as reader:
            assert stored_table(reader["d"].id) is None
            assert len(chunk_locations(reader["d"].id)) == 10
    with h5py.File(path) as file:
        assert len(stored_table(file["d"].id) or ()) == 10


def test_a_file_in_memory_is_left_to_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=np.arange(10), chunks=(1,))
    with h5py.File(path, driver="core") as file:
        assert stored_table(file["d"].id) is None
        assert len(chunk_locations(file["d"].id)) == 10


def test_many_files_one_after_the_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_file, "_MOST_FILES", 3)
    monkeypatch.setattr(h5_chunk_utils, "listed_by_hdf5", None)
    for count in range(1, 10):
        with h5py.File(path, "w") as file:
            file.create_dataset("d", data=np.arange(count), chunks=(1,))
        with h5py.File(path) as file, h5py.File(path) as again:
            assert len(chunk_locations(file["d"].id)) == len(chunk_locations(again["d"].id)) == count
    assert len(stored_file._files) <= 3
