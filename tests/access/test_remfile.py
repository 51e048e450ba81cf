"""The file object: the right bytes at every place, few requests, and never a wait for another thread."""

import gc
import io
import multiprocessing
import threading

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.access.remfile import Remfile
from shadowzarr.access.source_identity import Source
from shadowzarr.access.sources import describe
from shadowzarr.errors import ReadError, ShortReadError, SourceChangedError, TransientReadError
from shadowzarr.refs.byte_range import FileRange
from shadowzarr.testing import Fault, RangeServer

KIB = 2**10


class MemoryReader:
    """Reads from memory, and remembers what it was asked for, by rounds."""

    def __init__(self, content, spoil=lambda data: data):
        self.content, self.rounds, self.spoil = content, [], spoil

    def read(self, url, ranges, *, source=None):
        self.rounds.append([(r.offset, r.length) for r in ranges])
        return [self.spoil(self.content[r.offset : r.stop]) for r in ranges]


CONTENT = np.random.default_rng(0).integers(0, 256, 300_000, dtype="u1").tobytes()


def open_memory(content=CONTENT, block_size=1000, **options):
    reader = MemoryReader(content)
    return Remfile(Source("memory", len(content)), reader, block_size=block_size, **options), reader


def read_at(file, place, count):
    file.seek(place)
    return file.read(count)


def test_a_file_object():
    file, _ = open_memory()
    assert file.readable()
    assert file.seekable()
    assert not file.writable()
    assert file.read(5) == CONTENT[:5]
    assert file.tell() == 5
    assert file.seek(10, io.SEEK_CUR) == 15
    assert file.seek(-7, io.SEEK_END) == len(CONTENT) - 7
    assert file.read(100) == CONTENT[-7:]
    assert file.read(100) == b""
    assert file.readinto(bytearray(10)) == 0
    assert file.seek(len(CONTENT) + 50) == len(CONTENT) + 50
    assert file.read(1) == b""
    with pytest.raises(ValueError, match="before the start"):
        file.seek(-1)
    file.seek(0)
    assert file.readall() == CONTENT


def test_into_any_buffer():
    file, _ = open_memory()
    target = np.zeros(50, dtype="<i4")
    assert file.readinto(target) == 200
    assert target.tobytes() == CONTENT[:200]
    assert file.readinto(bytearray(0)) == 0


def test_a_closed_file_says_so():
    file, reader = open_memory()
    file.close()
    file.close()
    rounds = len(reader.rounds)
    for call in (lambda: file.read(1), lambda: file.seek(0), lambda: file.prefetch([FileRange(0, 1)])):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert len(reader.rounds) == rounds


def test_the_size_must_be_known():
    with pytest.raises(ReadError, match="size"):
        Remfile(Source("https://host/a?secret=1"), MemoryReader(b""))
    gc.collect()  # a half-made file is closed without complaint


def test_an_empty_file():
    file, reader = open_memory(b"")
    assert file.read(10) == b""
    assert reader.rounds == []


def test_head_and_tail_come_in_one_round():
    file, reader = open_memory()
    assert reader.rounds == [[(0, 4000), (299_000, 1000)]]
    assert read_at(file, 10, 3000) == CONTENT[10:3010]
    assert read_at(file, 299_990, 100) == CONTENT[299_990:]
    assert len(reader.rounds) == 1
    assert (file.requests, file.bytes_read, file.serial_depth) == (2, 5000, 1)


@pytest.mark.parametrize("size", [1, 999, 1000, 1001, 4000, 8000])
def test_a_small_file_comes_whole(size):
    file, reader = open_memory(CONTENT[:size])
    assert reader.rounds == [[(0, size)]]
    assert file.read() == CONTENT[:size]
    assert len(reader.rounds) == 1


def test_a_block_is_read_once():
    file, reader = open_memory()
    for place in (50_010, 50_500, 50_999, 50_000):
        assert read_at(file, place, 1) == CONTENT[place : place + 1]
    assert reader.rounds[1:] == [[(50_000, 1000)]]


def test_a_read_over_several_blocks_is_one_request():
    file, reader = open_memory()
    assert read_at(file, 50_500, 5000) == CONTENT[50_500:55_500]
    assert reader.rounds[1:] == [[(50_000, 6000)]]


def test_a_request_stops_at_what_is_known():
    file, reader = open_memory()
    read_at(file, 52_000, 1)
    assert read_at(file, 50_000, 5000) == CONTENT[50_000:55_000]
    assert reader.rounds[2:] == [[(50_000, 2000)], [(53_000, 2000)]]


def test_reading_on_and_on_takes_larger_steps():
    file, reader = open_memory()
    assert (
        b"".join(read_at(file, place, 500) for place in range(100_000, 200_000, 500))
        == CONTENT[100_000:200_000]
    )
    lengths = [length for ((_, length),) in reader.rounds[1:]]
    assert lengths[:6] == [1000, 2000, 4000, 8000, 16_000, 16_000]
    assert len(lengths) < 12


def test_jumping_about_takes_single_blocks():
    file, reader = open_memory()
    for place in range(200_000, 100_000, -5000):
        read_at(file, place, 10)
    assert {length for ((_, length),) in reader.rounds[1:]} == {1000}


def test_what_is_kept_is_bounded():
    file, _ = open_memory(cache_bytes=10_000)
    for _ in range(3):
        for place in range(0, 300_000, 1000):
            assert read_at(file, place, 1000) == CONTENT[place : place + 1000]
            assert len(file._blocks) <= 10
    assert sum(len(block) for block in file._blocks.values()) <= 10_000
    assert read_at(file, 0, 300_000) == CONTENT


def test_the_least_recently_used_goes_first():
    file, reader = open_memory(cache_bytes=10_000)
    for i in range(50, 70, 2):  # ten blocks, none next to another
        read_at(file, i * 1000, 1)
    read_at(file, 50_000, 1)
    read_at(file, 90_000, 1)  # pushes block 52 out
    rounds = len(reader.rounds)
    read_at(file, 50_000, 1)
    assert len(reader.rounds) == rounds
    read_at(file, 52_000, 1)
    assert len(reader.rounds) == rounds + 1


def test_prefetched_ranges_come_in_one_round_and_exactly():
    file, reader = open_memory()
    wanted = [FileRange(250_000, 20), FileRange(100_000, 10), FileRange(150_000, 3000)]
    file.prefetch(wanted, spare=0)
    assert reader.rounds[1:] == [[(100_000, 10), (150_000, 3000), (250_000, 20)]]
    for r in wanted:
        assert read_at(file, r.offset, r.length) == CONTENT[r.offset : r.stop]
    assert len(reader.rounds) == 2
    assert file.serial_depth == 2
    assert file.bytes_read == 5000 + 3030


def test_near_ranges_are_prefetched_together():
    file, reader = open_memory()
    file.prefetch([FileRange(100_000, 10), FileRange(100_100, 10)], spare=200)
    assert reader.rounds[1:] == [[(100_000, 110)]]
    file.prefetch([FileRange(120_000, 10), FileRange(120_100, 10)], spare=0)
    assert reader.rounds[2:] == [[(120_000, 10), (120_100, 10)]]


def test_what_is_at_hand_is_not_prefetched():
    file, reader = open_memory()
    file.prefetch([FileRange(100_000, 3000)])
    file.prefetch([FileRange(100_500, 100), FileRange(10, 500), FileRange(0, 0), FileRange(400_000, 10)])
    assert len(reader.rounds) == 2


def test_prefetching_is_cut_at_the_end():
    file, reader = open_memory()
    file.prefetch([FileRange(297_500, 5000)], spare=0)
    assert reader.rounds[1:] == [[(297_500, 1500)]]  # the tail is at hand
    assert read_at(file, 298_000, 5000) == CONTENT[298_000:]


def test_bytes_at_hand():
    file, reader = open_memory()
    file.prefetch([FileRange(4000, 500), FileRange(5000, 500)], spare=0)
    rounds = len(reader.rounds)
    assert file.at_hand(FileRange(3900, 600)) == CONTENT[3900:4500]  # from a block and a range
    assert file.at_hand(FileRange(4400, 700)) is None
    assert file.at_hand(FileRange(7, 0)) == b""
    assert len(reader.rounds) == rounds


def test_only_the_missing_middle_is_prefetched():
    file, reader = open_memory()
    file.prefetch([FileRange(10_000, 512), FileRange(11_000, 24)], spare=0)
    file.prefetch([FileRange(10_000, 1024)], spare=0)
    assert reader.rounds[2:] == [[(10_512, 488)]]
    assert read_at(file, 10_000, 1024) == CONTENT[10_000:11_024]
    assert len(reader.rounds) == 3


def test_a_range_that_covers_another_hides_nothing():
    file, _ = open_memory()
    file.prefetch([FileRange(10_100, 10)], spare=0)
    file.prefetch([FileRange(10_000, 600)], spare=0)
    assert file.at_hand(FileRange(10_000, 600)) == CONTENT[10_000:10_600]
    assert file.bytes_read == 5000 + 10 + 600


def test_few_ranges_bring_what_is_around_them():
    file, reader = open_memory(block_size=4096)
    file.prefetch([FileRange(100_000, 10)])
    assert reader.rounds[1] == [(98_304, 8192)]  # half of four blocks, aligned


def test_a_read_may_begin_in_a_prefetched_range_and_end_elsewhere():
    file, reader = open_memory()
    file.prefetch([FileRange(100_900, 300)])
    assert read_at(file, 100_800, 1000) == CONTENT[100_800:101_800]
    assert len(reader.rounds) <= 4


def test_old_prefetched_rounds_go():
    file, reader = open_memory(cache_bytes=10_000)
    for i in range(20):
        file.prefetch([FileRange(10_000 + i * 10_000, 4000)])
    assert sum(len(data) for data in file._prefetched._data.values()) <= 10_000
    rounds = len(reader.rounds)
    read_at(file, 10_000 + 19 * 10_000, 4000)
    assert len(reader.rounds) == rounds
    assert read_at(file, 10_000, 4000) == CONTENT[10_000:14_000]
    assert len(reader.rounds) > rounds


steps = st.lists(
    st.tuples(st.sampled_from(["read", "prefetch"]), st.integers(0, 5200), st.integers(0, 1500)), max_size=30
)


@settings(max_examples=60)
@given(steps, st.integers(1, 700), st.integers(100, 4000))
def test_any_use_gives_the_files_bytes(steps, block_size, cache_bytes):
    content = CONTENT[:5000]
    file, _ = open_memory(content, block_size=block_size, cache_bytes=cache_bytes)
    for what, place, count in steps:
        if what == "prefetch":
            file.prefetch([FileRange(place, count), FileRange(place // 2, count // 3)])
        else:
            assert read_at(file, place, count) == content[place : place + count]


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b""])
def test_a_reader_that_gives_the_wrong_length_is_an_error(spoil):
    reader = MemoryReader(CONTENT)
    file = Remfile(Source("memory", len(CONTENT)), reader, block_size=1000)
    reader.spoil = spoil
    with pytest.raises(ReadError, match="bytes came"):
        read_at(file, 50_000, 10)
    with pytest.raises(ReadError, match="bytes came"):
        file.prefetch([FileRange(60_000, 10)])


# over HTTP


@pytest.fixture
def _no_collection():
    """No garbage collection: the server is a thread of this process, and h5py waits for it.

    A collection on that thread that meets an h5py object needs h5py's lock, and both wait for ever.
    """
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def h5(server, _no_collection):
    """An HDF5 file of many small objects, served."""
    path = server.folder / "many.h5"
    with h5py.File(path, "w") as f:
        for i in range(300):
            group = f.create_group(f"acquisition/ts{i:03d}")
            group.attrs["description"] = "x" * 200
            group["data"] = np.arange(50.0) + i
    return path


def walk(file):
    with h5py.File(file, "r") as f:
        found = {}
        f.visititems(
            lambda name, item: found.update({name: item[()].sum() if isinstance(item, h5py.Dataset) else 0})
        )
    return found


def test_h5py_reads_the_same_as_from_disk(server, h5):
    file = Remfile(describe(server.url("many.h5")), DefaultReader())
    assert walk(file) == walk(h5)


def test_requests_are_bounded_by_the_files_size_not_by_its_objects(server, h5):
    source = describe(server.url("many.h5"))
    server.log.clear()
    file = Remfile(source, DefaultReader())
    assert len(walk(file)) == 601
    assert len(server.log) == file.requests
    assert file.requests <= 3 + source.size // (64 * KIB)
    assert server.log.bytes_sent == file.bytes_read <= source.size


def test_small_blocks_give_the_same(server, h5):
    file = Remfile(describe(server.url("many.h5")), DefaultReader(), block_size=512, cache_bytes=8 * KIB)
    assert walk(file) == walk(h5)


def test_a_changed_file_is_noticed_in_the_middle(server, h5):
    file = Remfile(describe(server.url("many.h5")), DefaultReader(), block_size=512)
    h5.write_bytes(bytes(reversed(h5.read_bytes())))
    with pytest.raises(SourceChangedError):
        read_at(file, 100_000, 10)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [({"status": 503}, TransientReadError), ({"short_by": 3, "declare_short": True}, ShortReadError)],
)
def test_h5py_hands_our_errors_on(server, h5, fault, kind):
    file = Remfile(describe(server.url("many.h5")), DefaultReader(), block_size=512)
    server.faults.add(Fault(**fault))
    with pytest.raises(kind):
        walk(file)


def test_passing_trouble_is_not_seen_by_h5py(server, h5):
    file = Remfile(describe(server.url("many.h5")), DefaultReader(), block_size=4096)
    server.faults.add(Fault(status=503, times=3))
    assert walk(file) == walk(h5)


def test_local_files_too(h5):
    assert walk(Remfile(describe(h5))) == walk(h5)


def serve(folder, pipe):
    with RangeServer(folder) as server:
        pipe.send(server.url("many.h5"))
        pipe.recv()


@pytest.fixture
def url_elsewhere(h5):
    """The file, served by another process."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(h5.parent, theirs))
    process.start()
    yield ours.recv()
    ours.send("stop")
    process.join()


@pytest.fixture
def _many_collections(_no_collection):
    before = gc.get_threshold()
    gc.set_threshold(20, 1, 1)
    gc.enable()
    yield
    gc.disable()
    gc.set_threshold(*before)


@pytest.mark.usefixtures("_many_collections")
def test_reading_holds_up_while_other_threads_free_h5py_objects(url_elsewhere):
    """What dead-locked when a read waited for a thread: it collects objects that need h5py's lock."""
    stop = threading.Event()

    def litter():
        while not stop.is_set():
            with h5py.File(io.BytesIO(), "w") as f:
                cycle = [f.create_group("g")]
                cycle.append(cycle)

    thread = threading.Thread(target=litter)
    thread.start()
    try:
        file = Remfile(describe(url_elsewhere), DefaultReader(), block_size=4096)
        assert len(walk(file)) == 601
    finally:
        stop.set()
        thread.join()
