"""What is read ahead, counted in requests of a server."""

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr

from shadowzarr import RfsBuilder, RfsStore, open_rfs
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.errors import SourceNotFoundError
from shadowzarr.store import look_ahead
from shadowzarr.testing import RangeServer
from shadowzarr.testing.faults import Fault

GZIP = [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}]


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    with RangeServer(folder) as running:
        yield running


def chunks_of(server, grid, chunk_shape, *, is_compressed=False, url=None):
    """A document with one array "x" whose chunks follow each other in one file, and its values."""
    shape = [n * edge for n, edge in zip(grid, chunk_shape, strict=True)]
    data = np.random.default_rng(1).integers(0, 255, shape, dtype=np.uint8)
    builder = RfsBuilder()
    builder.add_group("")
    codecs = {"codecs": GZIP} if is_compressed else {}
    builder.add_array("x", shape=shape, data_type="uint8", chunk_shape=chunk_shape, **codecs)
    file = bytearray()
    for coordinates in np.ndindex(*grid):
        region = tuple(slice(c * n, (c + 1) * n) for c, n in zip(coordinates, chunk_shape, strict=True))
        chunk = data[region].tobytes()
        chunk = gzip.compress(chunk, 1) if is_compressed else chunk
        builder.add_chunk("x", coordinates, url or server.url("raw.bin"), len(file), len(chunk))
        file += chunk
    (server.folder / "raw.bin").write_bytes(file)
    return builder.build(), data


@pytest.mark.parametrize("is_compressed", [False, True])
def test_300_small_neighbours_are_one_request(server, is_compressed):
    rfs, data = chunks_of(server, [300], [2000], is_compressed=is_compressed)
    np.testing.assert_array_equal(open_rfs(rfs)["x"][:], data)
    assert len(server.log) == 1
    server.log.clear()
    np.testing.assert_array_equal(open_rfs(rfs)["x"][1000:-1000], data[1000:-1000])
    assert len(server.log) == 1


def test_it_needs_no_open_rfs_and_no_setting(server):
    rfs, data = chunks_of(server, [300], [2000])
    assert zarr.config.get("async.concurrency") == 10
    array = zarr.open_array(RfsStore(rfs), path="x", mode="r")
    for _ in range(3):
        np.testing.assert_array_equal(array[:], data)
    assert len(server.log) == 3


def test_without_it_ten_share_a_request(server):
    rfs, data = chunks_of(server, [300], [2000])
    array = zarr.open_array(RfsStore(rfs, strict_json=True), path="x", mode="r")
    np.testing.assert_array_equal(array[:], data)
    assert len(server.log) == 30


def test_one_small_part_of_every_chunk(server):
    """One column of many chunks: what is asked for of the first is what is read of the others."""
    rfs, data = chunks_of(server, [300, 1], [100, 20])
    np.testing.assert_array_equal(open_rfs(rfs)["x"][:, 3], data[:, 3])
    assert len(server.log) == 1


@pytest.mark.parametrize("is_compressed", [False, True])
def test_large_chunks_are_under_way_together(tmp_path, is_compressed):
    with RangeServer(tmp_path, latency=0.3) as server:
        rfs, data = chunks_of(server, [1, 40], [100_000, 1], is_compressed=is_compressed)
        np.testing.assert_array_equal(open_rfs(rfs)["x"][:], data)
        assert len(server.log) == 40
        assert server.log.max_in_flight > 20


def test_no_more_is_asked_for_than_the_window_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(look_ahead, "WINDOW", 300_000)
    with RangeServer(tmp_path, latency=0.2) as server:
        rfs, data = chunks_of(server, [40], [100_000])
        np.testing.assert_array_equal(open_rfs(rfs)["x"][:], data)
        assert len(server.log) == 40
        assert server.log.max_in_flight <= 10 + 3


def test_whole_files_are_not_read_ahead_without_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(look_ahead, "WINDOW", 3 * look_ahead.UNKNOWN_LENGTH)
    with RangeServer(tmp_path, latency=0.2) as server:
        rfs, data = chunks_of(server, [40], [1000], is_compressed=True)
        for i in range(40):
            _, offset, length = rfs["refs"][f"x/c/{i}"]
            chunk = (tmp_path / "raw.bin").read_bytes()[offset : offset + length]
            (tmp_path / f"{i}.bin").write_bytes(chunk)
            rfs["refs"][f"x/c/{i}"] = [server.url(f"{i}.bin")]
        np.testing.assert_array_equal(open_rfs(rfs)["x"][:], data)
        assert server.log.max_in_flight <= 10 + 3


def test_large_uncompressed_chunks_at_the_edge_wait_until_they_are_asked_for(server):
    """Their parts are not known before, and all of them would be too much."""
    rfs, data = chunks_of(server, [20], [100_000])
    np.testing.assert_array_equal(open_rfs(rfs)["x"][99_990:1_900_010], data[99_990:1_900_010])
    assert server.log.bytes_sent == 1_800_020


def test_reading_ahead_is_given_up_when_a_guess_was_wrong(server):
    rfs, data = chunks_of(server, [3, 12], [40, 40])
    rows = slice(20, 100)  # parts of the first row of chunks, all of the second, parts of the third
    np.testing.assert_array_equal(open_rfs(rfs)["x"][rows], data[rows])
    picked = [0, 1, 60, 61, 119]
    np.testing.assert_array_equal(open_rfs(rfs)["x"].oindex[picked], data[picked])
    np.testing.assert_array_equal(open_rfs(rfs)["x"][::7, ::5], data[::7, ::5])


@pytest.mark.parametrize("grid", [[40], [5, 9], [2, 30]])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_any_selection_reads_what_numpy_selects(server, grid, is_compressed):
    rng = np.random.default_rng(7)
    rfs, data = chunks_of(server, grid, [30] * len(grid), is_compressed=is_compressed)
    array = open_rfs(rfs)["x"]
    for _ in range(25):
        bounds = [np.sort(rng.integers(0, extent + 1, 2)) for extent in data.shape]
        selection = tuple(slice(low, high, int(rng.integers(1, 40))) for low, high in bounds)
        np.testing.assert_array_equal(array[selection], data[selection])


def test_a_few_columns_of_wide_records(server):
    """The chunks of a selection are small, but take much of their file."""
    records = np.random.default_rng(3).integers(0, 255, (20_000, 300), dtype=np.uint8)
    (server.folder / "raw.bin").write_bytes(records.tobytes())
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("x", shape=[20_000, 2], data_type="uint8", chunk_shape=[1000, 2])
    builder.add_selection("x", 300, [[7, 8], [3, 4]])
    layout = {"url": server.url("raw.bin"), "start": 0, "itemsize": 1, "row_bytes": 300}
    builder.add_contiguous_chunks("x", shape=[20_000, 2], chunk_shape=[1000, 2], **layout)
    np.testing.assert_array_equal(open_rfs(builder.build())["x"][990:18_010], records[990:18_010, [7, 3]])
    assert 17_000 * 300 < server.log.bytes_sent < 17_020 * 300
    assert len(server.log) == 19


def test_chunks_that_are_missing_or_in_the_document_are_not_asked_for(server):
    rfs, data = chunks_of(server, [30], [2000])
    del rfs["refs"]["x/c/7"]
    rfs["refs"]["x/c/8"] = "\1" * 2000
    data[14_000:16_000], data[16_000:18_000] = 0, 1
    np.testing.assert_array_equal(open_rfs(rfs)["x"][:], data)
    assert len(server.log) == 1


def test_a_chunk_index_is_read_once_for_all(server, tmp_path):
    from shadowzarr import write_rfs

    rfs, data = chunks_of(server, [300], [2000])
    index = np.array([rfs["refs"].pop(f"x/c/{i}")[1:] for i in range(300)], np.uint64)
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("x", shape=data.shape, data_type="uint8", chunk_shape=[2000])
    builder.add_index("x", server.url("raw.bin"), index)
    write_rfs(builder.build(), server.folder / "x.shadowzarr")
    server.log.clear()
    np.testing.assert_array_equal(open_rfs(server.url("x.shadowzarr"))["x"][:], data)
    assert server.log.count("x.shadowzarr/refs.json") == 1
    assert server.log.count("x.shadowzarr/index/*") == 1
    assert server.log.count("raw.bin") == 1


def test_local_files_are_not_read_ahead(server):
    rfs, data = chunks_of(server, [30], [2000], url=str(server.folder / "raw.bin"))
    asked = []

    class Watched(DefaultReader):
        async def read_async(self, url, ranges, *, source=None):
            asked.append(len(ranges))
            return await super().read_async(url, ranges, source=source)

    np.testing.assert_array_equal(open_rfs(rfs, reader=Watched())["x"][:], data)
    assert len(asked) == 3  # ten chunks at a time


def test_a_chunk_that_cannot_be_read_is_an_error(server):
    rfs, _ = chunks_of(server, [100], [70_000], is_compressed=True)
    place = rfs["refs"]["x/c/50"]
    place[0] = server.url("gone.bin")
    with pytest.raises(SourceNotFoundError, match=r"chunk \(50,\) of array '/x'"):
        open_rfs(rfs)["x"][:]


def test_trouble_that_passes_is_not_noticed(server):
    rfs, data = chunks_of(server, [100], [70_000], is_compressed=True)
    server.faults.add(Fault(path="raw.bin", status=503, times=7))
    reader = DefaultReader(retries=RetryPolicy(attempts=9, first_pause=0.001, longest_pause=0.01))
    np.testing.assert_array_equal(open_rfs(rfs, reader=reader)["x"][:], data)


def test_many_threads_read_ahead_at_once(server):
    rfs, data = chunks_of(server, [60], [2000])
    array = open_rfs(rfs)["x"]

    def check(start):
        return np.array_equal(array[start : start + 50_000], data[start : start + 50_000])

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(check, range(0, 70_000, 1000)))


async def test_a_read_that_is_given_up_leaves_nothing_under_way(tmp_path):
    with RangeServer(tmp_path, latency=30) as server:
        rfs, _ = chunks_of(server, [100], [70_000], is_compressed=True)
        array = await zarr.api.asynchronous.open_array(store=RfsStore(rfs), path="x", mode="r")
        reading = asyncio.create_task(array.getitem(slice(None)))
        while len(server.log) < 20:
            await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        async with asyncio.timeout(60):  # what was cancelled ends in turns of the loop
            while look_ahead._RUNNING:
                await asyncio.sleep(0.01)
