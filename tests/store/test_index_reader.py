import asyncio
import itertools
import json
import math
import shutil

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr import RfsBuilder, load_rfs, write_rfs
from shadowzarr.access.range_reader import default_reader
from shadowzarr.errors import (
    DamagedSourceError,
    InvalidReferencesError,
    ReadError,
    SourceNotFoundError,
    TransientReadError,
)
from shadowzarr.refs import chunk_index
from shadowzarr.refs.byte_range import ChunkLocation
from shadowzarr.store.index_reader import IndexReader
from shadowzarr.store.locate import ChunkId, Locator
from shadowzarr.testing.faults import Fault
from shadowzarr.testing.range_server import RangeServer

MISSING = 2**64 - 1


def make(index):
    """A document with one array whose chunk grid the index covers, chunks of one byte each."""
    grid = index.shape[:-1]
    builder = RfsBuilder()
    builder.add_array("a", shape=grid, data_type="uint8", chunk_shape=[1] * len(grid))
    builder.add_index("a", "https://h/x", index)
    return builder.build()


def reader_of(rfs, files=None, **options):
    return IndexReader(rfs, Locator(rfs).layout, files or default_reader(), **options)


def random_index(grid, seed=0):
    index = np.random.default_rng(seed).integers(0, 2**40, (*grid, 2), dtype=np.uint64)
    index[np.random.default_rng(seed).random(grid) < 0.3] = MISSING
    return index


async def answers(reader, grid):
    return {c: await reader.location(ChunkId("a", c)) for c in itertools.product(*map(range, grid))}


def expected(index):
    return {
        c: None
        if index[c][0] == MISSING
        else ChunkLocation("https://h/x", int(index[c][0]), int(index[c][1]))
        for c in itertools.product(*map(range, index.shape[:-1]))
    }


async def listed(reader):
    return [chunk.coordinates async for chunk in reader.listed("a")]


@pytest.fixture
def small_index_chunks(monkeypatch):
    """Index chunks of at most six entries, so that small indexes have many."""
    monkeypatch.setattr(chunk_index, "ENTRIES_PER_CHUNK", 6)


grids = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@given(grids, st.integers(0, 99))
def test_in_memory_as_numpy_says(grid, seed):
    index = random_index(grid, seed)
    reader = reader_of(make(index))
    want = expected(index)
    assert asyncio.run(answers(reader, grid)) == want
    assert asyncio.run(listed(reader)) == [c for c, at in want.items() if at is not None]
    assert asyncio.run(reader.location(ChunkId("a", grid))) is None


@pytest.mark.parametrize("grid", [(23,), (7, 5), (3, 4, 5), (1, 1), (2, 17)])
async def test_on_disk_as_numpy_says(grid, tmp_path, small_index_chunks):
    index = random_index(grid)
    write_rfs(make(index), tmp_path / "x.shadowzarr")
    reader = reader_of(load_rfs(tmp_path / "x.shadowzarr"))
    want = expected(index)
    assert await answers(reader, grid) == want
    assert sorted(await listed(reader)) == [c for c, at in want.items() if at is not None]


@pytest.fixture
def written(tmp_path, small_index_chunks):
    index = random_index((40,))
    write_rfs(make(index), tmp_path / "x.shadowzarr")
    return index


async def test_one_read_for_a_hundred_at_once(written, tmp_path):
    with RangeServer(tmp_path, latency=0.02) as server:
        reader = reader_of(load_rfs(server.url("x.shadowzarr")))
        server.log.clear()
        await asyncio.gather(*(reader.location(ChunkId("a", (i % 6,))) for i in range(100)))
        assert len(server.log) == 1
        await asyncio.gather(*(reader.location(ChunkId("a", (i,))) for i in range(40)))
        assert len(server.log) == math.ceil(40 / 6)


async def test_only_recent_index_chunks_are_kept(written, tmp_path):
    with RangeServer(tmp_path) as server:
        reader = reader_of(load_rfs(server.url("x.shadowzarr")), kept_bytes=2 * 6 * 16)
        server.log.clear()
        for i in (0, 6, 12, 0, 12):
            await reader.location(ChunkId("a", (i,)))
        assert len(server.log) == 4


async def test_a_document_without_the_metadata_costs_one_more_request(written, tmp_path):
    file = tmp_path / "x.shadowzarr" / "refs.json"
    document = json.loads(file.read_text())
    del document["indexes"]["a"]["metadata"]
    file.write_text(json.dumps(document))
    with RangeServer(tmp_path) as server:
        reader = reader_of(load_rfs(server.url("x.shadowzarr")))
        server.log.clear()
        assert await answers(reader, (40,)) == expected(written)
        assert server.log.count("*/zarr.json") == 1
        assert len(server.log) == 1 + math.ceil(40 / 6)


async def test_index_arrays_that_zarr_wrote_otherwise(tmp_path):
    index = random_index((9, 4))
    array = zarr.create_array(
        tmp_path / "index", shape=(9, 4, 2), chunks=(4, 3, 2), dtype="uint64", fill_value=MISSING
    )
    array[...] = index
    rfs = make(index)
    rfs["indexes"]["a"] = {"url": "https://h/x", "index": str(tmp_path / "index")}
    reader = reader_of(rfs)
    assert await answers(reader, (9, 4)) == expected(index)
    assert sorted(await listed(reader)) == sorted(c for c, at in expected(index).items() if at)


async def test_an_index_that_is_gone_is_never_taken_for_missing_chunks(written, tmp_path):
    reader = reader_of(load_rfs(tmp_path / "x.shadowzarr"))
    shutil.rmtree(tmp_path / "x.shadowzarr" / "index")
    with pytest.raises(ReadError, match=r"chunk index of array '/a' cannot be read.*c/1/0") as caught:
        await reader.location(ChunkId("a", (7,)))
    assert isinstance(caught.value.__context__, SourceNotFoundError)
    assert caught.value.__suppress_context__
    with pytest.raises(ReadError):
        await listed(reader)


async def test_a_server_that_fails_is_an_error_and_asked_again(written, tmp_path, impatient):
    with RangeServer(tmp_path) as server:
        reader = reader_of(load_rfs(server.url("x.shadowzarr")), impatient)
        server.faults.add(Fault(path="*/c/0/0", status=503, times=2))
        with pytest.raises(ReadError, match="'/a'") as caught:
            await reader.location(ChunkId("a", (0,)))
        assert isinstance(caught.value, TransientReadError)
        assert caught.value.transient
        server.faults.clear()
        assert await answers(reader, (40,)) == expected(written)


@pytest.mark.parametrize("data", [b"", b"not blosc at all, but long enough to look like it"])
async def test_a_damaged_index_chunk(written, tmp_path, data):
    (chunk,) = (tmp_path / "x.shadowzarr" / "index").glob("*/c/0/0")
    chunk.write_bytes(data)
    reader = reader_of(load_rfs(tmp_path / "x.shadowzarr"))
    with pytest.raises(DamagedSourceError, match=r"chunk index of array '/a' is damaged .*c/0/0"):
        await reader.location(ChunkId("a", (0,)))


async def test_an_index_for_another_grid_is_refused(written, tmp_path):
    rfs = load_rfs(tmp_path / "x.shadowzarr")
    rfs["refs"]["a/zarr.json"] = make(random_index((50,)))["refs"]["a/zarr.json"]
    with pytest.raises(InvalidReferencesError, match=r"chunk grid of \(40,\), but the array has \(50,\)"):
        await reader_of(rfs).location(ChunkId("a", (45,)))
    rfs["indexes"]["a"]["index"] = written
    with pytest.raises(InvalidReferencesError, match=r"\(40,\)"):
        await reader_of(rfs).location(ChunkId("a", (45,)))


async def test_what_is_no_index_array_is_refused(written, tmp_path):
    rfs = load_rfs(tmp_path / "x.shadowzarr")
    rfs["indexes"]["a"]["metadata"]["data_type"] = "int64"
    with pytest.raises(InvalidReferencesError, match="a chunk index is uint64"):
        await reader_of(rfs).location(ChunkId("a", (0,)))


async def test_a_grid_that_fits_into_no_memory_is_read_from_its_beginning(written, tmp_path):
    rfs = load_rfs(tmp_path / "x.shadowzarr")
    array = json.loads(rfs["refs"]["a/zarr.json"])
    edge = array["chunk_grid"]["configuration"]["chunk_shape"][0]
    rfs["refs"]["a/zarr.json"] = json.dumps({**array, "shape": [2**62 * edge]})
    rfs["indexes"]["a"]["metadata"]["shape"] = [2**62, 2]
    with pytest.raises(SourceNotFoundError, match="chunk index of array '/a' cannot be read"):
        async for _ in reader_of(rfs).listed("a"):
            pass


@pytest.mark.parametrize("text", ["[]", "{", '{"shape": 5}'])
async def test_metadata_of_an_index_beside_the_document(written, tmp_path, text):
    rfs = load_rfs(tmp_path / "x.shadowzarr")
    del rfs["indexes"]["a"]["metadata"]
    (file,) = (tmp_path / "x.shadowzarr" / "index").glob("*/zarr.json")
    file.write_text(text)
    with pytest.raises((DamagedSourceError, InvalidReferencesError), match=r"chunk index|has shape 5"):
        await reader_of(rfs).location(ChunkId("a", (0,)))


async def test_an_index_whose_codecs_are_not_understood(written, tmp_path):
    rfs = load_rfs(tmp_path / "x.shadowzarr")
    rfs["indexes"]["a"]["metadata"]["codecs"] = [{"name": "bytes", "configuration": {"a": 1}}]
    with pytest.raises(
        DamagedSourceError, match=r"chunk index of array '/a' is damaged .*not an index chunk"
    ):
        await reader_of(rfs).location(ChunkId("a", (0,)))
