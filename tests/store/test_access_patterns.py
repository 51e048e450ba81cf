"""What each way of reading costs, in requests and bytes: small forms of the rows of the reading benchmark."""

from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
import pytest
import zarr

from shadowzarr import generate_rfs, open_rfs, write_rfs
from shadowzarr.testing import RangeServer

LATENCY = 0.2
"""Seconds, so that requests which wait for nothing are under way together on a busy machine too."""


@dataclass
class Served:
    """An HDF5 file behind a server with references of it, in a folder of their own and behind it too."""

    server: RangeServer
    values: np.ndarray
    stored: np.ndarray = field(repr=False)
    """Bytes of each chunk, shaped like the chunk grid."""

    @property
    def references(self) -> str:
        return str(self.server.folder / "references.shadowzarr")

    def open(self) -> Any:
        """Open references on local disk; the log then holds nothing but what is read afterwards."""
        array = open_rfs(self.references)["data"]
        self.server.log.clear()
        return array

    def data_bytes(self) -> int:
        return sum(entry.sent for entry in self.server.log.select("file.h5"))


@pytest.fixture
def serve(tmp_path):
    """Write values into ``data`` of a file, serve it, and make references of it."""
    with RangeServer(tmp_path, latency=LATENCY) as server:

        def make(values: np.ndarray, threshold: int = 1000, **layout: Any) -> Served:
            path = tmp_path / "file.h5"
            with h5py.File(path, "w") as file:
                dataset = file.create_dataset("data", data=values, **layout)
                stored = _stored(dataset)
            rfs = generate_rfs(server.url("file.h5"), local_hdf5_path=path, chunk_index_threshold=threshold)
            write_rfs(rfs, tmp_path / "references.shadowzarr")
            server.log.clear()
            return Served(server, values, stored)

        yield make


def _stored(dataset: h5py.Dataset) -> np.ndarray:
    if dataset.chunks is None:
        return np.array([dataset.id.get_storage_size()])
    grid = [-(-n // edge) for n, edge in zip(dataset.shape, dataset.chunks, strict=True)]
    sizes = np.zeros(grid, dtype=np.int64)
    for number in range(dataset.id.get_num_chunks()):
        info = dataset.id.get_chunk_info(number)
        place = tuple(o // edge for o, edge in zip(info.chunk_offset, dataset.chunks, strict=True))
        sizes[place] = info.size
    return sizes


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).integers(-2000, 2000, shape, dtype=np.int16)


@pytest.fixture
def recording(serve):
    """Time by channel: chunks of one channel each, 70 kB behind gzip, as archives hold them."""
    return serve(noise(2 * 45_000, 48), threshold=10, chunks=(45_000, 1), compression="gzip")


def test_one_chunk_of_an_indexed_array_by_references_on_local_disk(serve):
    served = serve(noise(4000, 16), threshold=100, chunks=(8, 16))
    array = served.open()
    np.testing.assert_array_equal(array[80:88], served.values[80:88])
    assert len(served.server.log) == 1
    assert served.data_bytes() == served.stored[10, 0]


def test_the_same_with_references_behind_the_server(serve):
    served = serve(noise(4000, 16), threshold=100, chunks=(8, 16))
    array = open_rfs(served.server.url("references.shadowzarr"))["data"]
    np.testing.assert_array_equal(array[80:88], served.values[80:88])
    document, index, chunk = served.server.log
    assert document.path.endswith("refs.json")
    assert "index" in index.path
    assert chunk.sent == served.stored[10, 0]


def test_a_second_of_one_channel(recording):
    array = recording.open()
    np.testing.assert_array_equal(array[5_000:35_000, 17], recording.values[5_000:35_000, 17])
    assert len(recording.server.log) == 1
    assert recording.data_bytes() == recording.stored[0, 17]


@pytest.mark.parametrize("concurrency", [10, 100])
def test_a_second_of_all_channels(recording, concurrency):
    array = recording.open()
    assert recording.stored.min() > 64 * 1024  # chunks of this size do not share requests
    with zarr.config.set({"async.concurrency": concurrency}):
        np.testing.assert_array_equal(array[5_000:35_000], recording.values[5_000:35_000])
    assert len(recording.server.log) == 48
    assert recording.data_bytes() == recording.stored[0].sum()
    assert recording.server.log.max_in_flight > 20


def test_the_whole_of_a_compressed_array(recording):
    array = recording.open()
    np.testing.assert_array_equal(array[:], recording.values)
    assert len(recording.server.log) == recording.stored.size
    assert recording.data_bytes() == recording.stored.sum()


def test_300_neighbouring_chunks_of_2_kb(serve):
    served = serve(noise(1000 * 1024), threshold=1000, chunks=(1024,))
    array = served.open()
    np.testing.assert_array_equal(array[: 300 * 1024], served.values[: 300 * 1024])
    assert len(served.server.log) == 1
    nbytes = served.stored[:300].sum()
    assert nbytes <= served.data_bytes() < 1.1 * nbytes  # HDF5's own index lies between them


def test_100_samples_out_of_a_slab(serve):
    served = serve(noise(16_384, 128))
    array = served.open()
    np.testing.assert_array_equal(array[5_000:5_100, :1], served.values[5_000:5_100, :1])
    assert len(served.server.log) == 1
    assert served.data_bytes() <= 64 * 1024


def test_small_slices_here_and_there(serve):
    served = serve(noise(200 * 1024), chunks=(1024,))
    array = served.open()
    starts = [n * 7 * 1024 + 100 for n in range(20)]
    for start in starts:
        np.testing.assert_array_equal(array[start : start + 50], served.values[start : start + 50])
    assert len(served.server.log) == len(starts)
    assert served.data_bytes() == len(starts) * 50 * 2
