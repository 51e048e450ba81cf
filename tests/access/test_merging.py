import asyncio
import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.access.merging import MergedRequest, RangeMerger, plan_requests
from shadowzarr.access.source_identity import Source
from shadowzarr.errors import TransientReadError
from shadowzarr.refs.byte_range import FileRange

KIB = 2**10


def plan(ranges, **options):
    made = plan_requests([FileRange(*item) for item in ranges], **options)
    return [(p.request.offset, p.request.length, p.members) for p in made]


def test_nothing():
    assert plan([]) == []


def test_neighbours_share_a_request():
    assert plan([(0, 10), (10, 10), (20, 10)]) == [(0, 30, (0, 1, 2))]


def test_order_does_not_matter():
    assert plan([(20, 10), (0, 10), (10, 10)]) == [(0, 30, (1, 2, 0))]


def test_a_gap_up_to_the_limit_is_read():
    assert plan([(0, 10), (42, 10)], merge_gap=32) == [(0, 52, (0, 1))]
    assert plan([(0, 10), (43, 10)], merge_gap=32) == [(0, 10, (0,)), (43, 10, (1,))]


def test_a_request_is_not_larger_than_allowed():
    assert plan([(0, 40), (40, 40), (80, 40)], max_merge_size=80) == [(0, 80, (0, 1)), (80, 40, (2,))]


def test_zero_turns_merging_off():
    assert plan([(0, 10), (10, 10)], max_merge_size=0) == [(0, 10, (0,)), (10, 10, (1,))]


def test_large_ranges_stand_alone_and_small_ones_meet_across_them():
    assert plan([(0, 10), (10, 100), (110, 10)], merge_below=50, merge_gap=200) == [
        (0, 120, (0, 2)),
        (10, 100, (1,)),
    ]
    assert plan([(0, 50), (50, 51)], merge_below=50) == [(0, 50, (0,)), (50, 51, (1,))]


def test_equal_ranges_are_asked_for_once():
    big = 200 * KIB
    assert plan([(5, big), (5, big)]) == [(5, big, (0, 1))]
    assert plan([(5, 10), (5, 10)], max_merge_size=0) == [(5, 10, (0, 1))]


def test_overlaps():
    assert plan([(0, 100), (10, 20), (50, 100)]) == [(0, 150, (0, 1, 2))]


def test_the_defaults_for_300_chunks_of_two_kilobytes():
    assert len(plan([(i * 2000, 2000) for i in range(300)])) == 1
    assert len(plan([(i * 100_000, 100_000) for i in range(82)])) == 82


ranges = st.lists(st.builds(FileRange, st.integers(0, 400), st.integers(0, 60)), max_size=40)


@given(ranges, st.integers(0, 50), st.integers(0, 200), st.integers(0, 60))
def test_every_plan_is_right(wanted, merge_gap, max_merge_size, merge_below):
    plans = plan_requests(wanted, merge_gap=merge_gap, max_merge_size=max_merge_size, merge_below=merge_below)
    assert sorted(i for p in plans for i in p.members) == list(range(len(wanted)))
    offsets = [p.request.offset for p in plans]
    assert offsets == sorted(offsets)
    for p in plans:
        members = [wanted[i] for i in p.members]
        assert p.request.offset == min(m.offset for m in members)
        assert p.request.stop == max(m.stop for m in members)
        if len(set(members)) > 1:
            assert p.request.length <= max_merge_size
            assert all(m.length <= merge_below for m in members)
            stop = members[0].stop
            for m in members[1:]:
                assert m.offset - stop <= merge_gap
                stop = max(stop, m.stop)


@given(ranges)
def test_merging_without_limits_leaves_one_request_per_far_group(wanted):
    plans = plan_requests(wanted, merge_gap=0, max_merge_size=10**9, merge_below=10**9)
    for before, after in itertools.pairwise(plans):
        assert after.request.offset > before.request.stop


class FakeReader:
    """Reads from memory, waits a turn, and remembers what it was asked."""

    def __init__(self, content, error=None):
        self.content, self.error, self.asked = content, error, []

    async def read_async(self, url, ranges, *, source=None):
        self.asked += [(url, r.offset, r.length, source) for r in ranges]
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return [self.content[r.offset : r.stop] for r in ranges]


def test_concurrent_reads_share_a_request(content):
    reader = FakeReader(content)
    merger = RangeMerger(reader)

    async def read():
        return await asyncio.gather(*(merger.read("u", FileRange(i * 100, 50)) for i in range(20)))

    parts = asyncio.run(read())
    assert [bytes(part) for part in parts] == [content[i * 100 : i * 100 + 50] for i in range(20)]
    assert reader.asked == [("u", 0, 1950, None)]


def test_files_and_sources_are_kept_apart(content):
    reader = FakeReader(content)
    merger = RangeMerger(reader)

    async def read():
        await asyncio.gather(
            merger.read("a", FileRange(0, 5)),
            merger.read("b", FileRange(5, 5)),
            merger.read("a", FileRange(5, 5), source=Source("a", 9)),
        )

    asyncio.run(read())
    assert len(reader.asked) == 3


def test_what_is_not_merged_goes_at_once(content):
    for options in ({"max_merge_size": 0}, {"merge_below": 10}):
        reader = FakeReader(content)
        merger = RangeMerger(reader, **options)

        async def read(merger=merger):
            return await asyncio.gather(*(merger.read("u", FileRange(i * 50, 50)) for i in range(3)))

        assert [bytes(part) for part in asyncio.run(read())] == [content[i : i + 50] for i in (0, 50, 100)]
        assert len(reader.asked) == 3


def test_all_members_of_a_failed_request_fail(content):
    merger = RangeMerger(FakeReader(content, TransientReadError("busy")))

    async def read():
        reads = (merger.read("u", FileRange(i * 10, 10)) for i in range(3))
        return await asyncio.gather(*reads, return_exceptions=True)

    assert [type(outcome) for outcome in asyncio.run(read())] == [TransientReadError] * 3


def test_one_who_gives_up_does_not_stop_the_others(content):
    merger = RangeMerger(FakeReader(content))

    async def read():
        first, second = (asyncio.ensure_future(merger.read("u", FileRange(i * 10, 10))) for i in range(2))
        await asyncio.sleep(0)
        first.cancel()
        return await second, first

    data, first = asyncio.run(read())
    assert bytes(data) == content[10:20]
    assert first.cancelled()


def test_it_works_in_one_loop_after_another_and_pickled(content):
    merger = pickle.loads(pickle.dumps(RangeMerger(FakeReader(content), merge_gap=7)))
    for _ in range(2):
        assert bytes(asyncio.run(merger.read("u", FileRange(3, 4)))) == content[3:7]


def test_a_merged_request_is_a_plain_record():
    assert plan_requests([FileRange(1, 2)]) == [MergedRequest(FileRange(1, 2), (0,))]


@pytest.mark.parametrize("length", [0, 1])
def test_tiny_ranges(content, length):
    merger = RangeMerger(FakeReader(content))
    assert bytes(asyncio.run(merger.read("u", FileRange(5, length)))) == content[5 : 5 + length]


class DictCache:
    """Keeps what it is given, and says how often it was asked."""

    def __init__(self):
        self.kept = {}
        self.asked = []

    def keeps(self, source):
        return source is not None

    def get_many(self, source, parts):
        self.asked.append(len(parts))
        return [self.kept.get((source, part)) for part in parts]

    def put_many(self, source, parts, data):
        self.kept |= {(source, part): bytes(each) for part, each in zip(parts, data, strict=True)}


async def test_a_cache_is_asked_once_for_all_that_arrives_together(content):
    source, cache = Source("f", len(content), '"e"'), DictCache()
    ranges = [FileRange(i * 200, 100) for i in range(20)]
    counted = FakeReader(content)
    merger = RangeMerger(counted, cache=cache)
    for _ in range(2):
        read = await asyncio.gather(*(merger.read("f", wanted, source=source) for wanted in ranges))
        assert [bytes(each) for each in read] == [content[r.offset : r.stop] for r in ranges]
    assert cache.asked == [20, 20]
    assert len(counted.asked) == 1
    assert set(cache.kept) == {(source, part) for part in ranges}


async def test_a_cache_that_raises_is_told_to_all_who_wait(content):
    class Broken(DictCache):
        def get_many(self, source, parts):
            raise RuntimeError("no")

    merger = RangeMerger(FakeReader(content), cache=Broken())
    reads = [merger.read("f", FileRange(i, 1), source=Source("f", 5, '"e"')) for i in range(3)]
    answers = await asyncio.gather(*reads, return_exceptions=True)
    assert [str(each) for each in answers] == ["no"] * 3
