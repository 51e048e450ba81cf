import asyncio

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shadowzarr.access.merging import RangeMerger
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.errors import InvalidReferencesError, ReadError, ShortReadError, SourceChangedError
from shadowzarr.refs.array_layout import ArrayLayout
from shadowzarr.refs.byte_range import ChunkLocation
from shadowzarr.refs.zarr_metadata import BYTES_CODEC, array_metadata
from shadowzarr.store.fetch_chunk import ChunkFetcher, check_length, pad
from shadowzarr.store.locate import ChunkId

ZSTD = {"name": "zstd", "configuration": {}}


def layout(shape, chunk_shape, *codecs):
    metadata = array_metadata(
        shape=shape,
        data_type="uint8",
        chunk_shape=chunk_shape,
        codecs=[BYTES_CODEC, *codecs],
        fill_value=0,
    )
    return ArrayLayout.from_metadata(metadata, "a")


class Watched:
    """A reader that notes what it is asked for."""

    def __init__(self):
        self.reader = DefaultReader()
        self.asked = []

    async def read_async(self, url, ranges, *, source=None):
        self.asked += [(part.offset, part.length) for part in ranges]
        return await self.reader.read_async(url, ranges, source=source)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "bytes.bin"
    path.write_bytes(bytes(range(100)))
    return str(path)


def fetcher(reader=None, *, validate_sources=True, **rfs):
    merger = RangeMerger(reader or DefaultReader(), max_merge_size=0)
    return ChunkFetcher({"version": 2, "refs": {}, **rfs}, merger, validate_sources=validate_sources)


A0, A2 = ChunkId("a", (0,)), ChunkId("a", (2,))


@pytest.mark.parametrize(
    ("start", "stop", "asked"),
    [(None, None, (10, 20)), (5, 8, (15, 3)), (-4, None, (26, 4)), (18, 99, (28, 2)), (0, 1, (10, 1))],
)
async def test_only_the_part_is_read(file, start, stop, asked):
    reader = Watched()
    data = await fetcher(reader).fetch(ChunkLocation(file, 10, 20), A0, layout([99], [99], ZSTD), start, stop)
    assert bytes(data) == bytes(range(10, 30))[start:stop]
    assert reader.asked == [asked]


async def test_an_empty_part_is_not_read(file):
    reader = Watched()
    assert await fetcher(reader).fetch(ChunkLocation(file, 10, 20), A0, layout([20], [20]), 5, 5) == b""
    assert await fetcher(reader).fetch(ChunkLocation(file, 10, 20), A0, layout([20], [20]), 40, 50) == b""
    assert reader.asked == []


async def test_a_whole_file(file):
    location = ChunkLocation(file)
    assert bytes(await fetcher().fetch(location, None, None)) == bytes(range(100))
    assert bytes(await fetcher().fetch(location, A0, layout([100], [100]))) == bytes(range(100))
    assert await fetcher().size(location, None, None) == 100


async def test_the_last_chunk_is_read_as_far_as_the_array_goes(file):
    reader = Watched()
    location = ChunkLocation(file, 80, 40)  # ends 20 bytes after the file
    data = await fetcher(reader).fetch(location, A2, layout([95], [40]))
    assert bytes(data) == bytes(range(80, 95)) + bytes(25)
    assert reader.asked == [(80, 15)]
    assert bytes(await fetcher().fetch(location, A2, layout([95], [40]), 10, 20)) == bytes(
        range(90, 95)
    ) + bytes(5)
    assert bytes(await fetcher().fetch(location, A2, layout([95], [40]), -5, None)) == bytes(5)


async def test_a_short_reference_to_the_last_chunk_is_padded(file):
    data = await fetcher().fetch(ChunkLocation(file, 80, 15), A2, layout([95], [40]))
    assert bytes(data) == bytes(range(80, 95)) + bytes(25)


async def test_bytes_that_are_missing_within_the_array_are_an_error(file):
    with pytest.raises(ShortReadError, match=r"chunk \(2,\) of array '/a'.*list 14 bytes, but 15 of"):
        await fetcher().fetch(ChunkLocation(file, 80, 14), A2, layout([95], [40]))
    with pytest.raises(ShortReadError, match=r"chunk \(2,\) of array '/a', bytes 90 to 130.*bytes\.bin"):
        await fetcher().fetch(ChunkLocation(file, 90, 40), A2, layout([95], [40]))
    with pytest.raises(ShortReadError, match="bytes 90 to 130"):
        await fetcher().fetch(ChunkLocation(file, 90, 40), A0, layout([99], [99], ZSTD))


async def test_a_reference_longer_than_its_chunk_is_an_error(file):
    with pytest.raises(InvalidReferencesError, match="list 41 bytes, but an uncompressed chunk.* has 40"):
        await fetcher().fetch(ChunkLocation(file, 0, 41), A0, layout([95], [40]))


async def test_a_file_that_cannot_be_read_is_named(file):
    with pytest.raises(ReadError, match=r"chunk \(0,\) of array '/a', bytes 0 to 40: .*none\.bin") as caught:
        await fetcher().fetch(ChunkLocation(file.replace("bytes", "none"), 0, 40), A0, layout([95], [40]))
    assert not isinstance(caught.value, FileNotFoundError)
    with pytest.raises(ReadError, match="a value, bytes 0 to the end"):
        await fetcher().fetch(ChunkLocation(file.replace("bytes", "none")), None, None)


async def test_a_file_of_another_size_is_refused(file):
    changed = {"sources": {file: {"size": 101}}}
    location = ChunkLocation(file, 0, 40)
    with pytest.raises(SourceChangedError, match=r"chunk \(0,\) of array '/a'.*has 100 bytes, expected 101"):
        await fetcher(**changed).fetch(location, A0, layout([95], [40]))
    data = await fetcher(validate_sources=False, **changed).fetch(location, A0, layout([95], [40]))
    assert bytes(data) == bytes(range(40))


@st.composite
def selections(draw):
    record_size = draw(st.integers(1, 9))
    part = st.tuples(st.integers(0, record_size - 1), st.integers(1, record_size)).map(sorted)
    keep = draw(st.lists(part.filter(lambda p: p[0] < p[1]), min_size=1, max_size=3))
    return record_size, [list(p) for p in keep]


@given(selections(), st.integers(1, 8), st.integers(0, 5), st.integers(0, 80), st.integers(0, 80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_selections_as_numpy_takes_them(file, selection, records, offset, start, stop):
    record_size, keep = selection
    stored = np.arange(offset, offset + records * record_size, dtype=np.uint8).reshape(records, -1)
    want = np.concatenate([stored[:, a:b] for a, b in keep], axis=1).tobytes()
    kept = len(want) // records
    reader = Watched()
    data = asyncio.run(
        fetcher(reader, selections={"a": {"record_size": record_size, "keep": keep}}).fetch(
            ChunkLocation(file, offset, records * record_size),
            ChunkId("a", (0, 0)),
            layout([records, kept], [records, kept]),
            start,
            stop,
        )
    )
    assert bytes(data) == want[start:stop]
    first, last = start // kept, (min(stop, len(want)) - 1) // kept
    asked = sum(length for _, length in reader.asked)
    assert asked <= max(0, last - first + 1) * record_size


async def test_a_selection_at_the_end_of_the_file_reads_no_further_than_it_keeps(file):
    selected = fetcher(selections={"a": {"record_size": 10, "keep": [[2, 5]]}}, sources={file: {"size": 100}})
    location = ChunkLocation(file, 85, 40)
    data = await selected.fetch(location, ChunkId("a", (0, 0)), layout([2, 3], [4, 3]))
    assert bytes(data) == bytes([87, 88, 89, 97, 98, 99]) + bytes(6)


def test_inline_chunks_are_padded_by_the_same_rule():
    assert pad(b"123", A2, layout([83], [40])) == b"123" + bytes(37)
    assert pad(b"12", A2, layout([83], [40], ZSTD)) == b"12"
    with pytest.raises(ShortReadError, match=r"chunk \(2,\) of array '/a', held in the document"):
        pad(b"12", A2, layout([83], [40]))
    with pytest.raises(InvalidReferencesError, match="41"):
        pad(bytes(41), A2, layout([83], [40]))


def test_check_length():
    check_length(10, 40, 10)
    check_length(40, 40, 10)
    for available, error in ((9, ShortReadError), (41, InvalidReferencesError)):
        with pytest.raises(error, match="generate the references again"):
            check_length(available, 40, 10)
