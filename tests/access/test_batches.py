"""The requests of a round: all that is wanted, nothing twice, and little beside it."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.access.batches import GAP_SHARE, MAX_GAP, MAX_REQUEST, plan_batch
from shadowzarr.refs.byte_range import FileRange

KIB = 2**10
SIZE = 10_000_000


def plan(ranges, **options):
    made = plan_batch([FileRange(*item) for item in ranges], **{"size": SIZE, **options})
    return [(each.offset, each.length) for each in made]


def test_nothing():
    assert plan([]) == []


def test_ranges_that_overlap_or_touch_are_one():
    assert plan([(20, 10), (0, 10), (10, 10), (5, 2), (25, 50)]) == [(0, 75)]


def test_the_smallest_gaps_are_read_first():
    ranges = [(0, 100), (110, 100), (230, 100), (380, 100)]  # gaps of 10, 20 and 50
    assert plan(ranges) == [(0, 330), (380, 100)]  # 60 bytes are to spare
    assert plan([(0, 100), (161, 100)]) == [(0, 100), (161, 100)]
    assert plan(ranges, gaps=0) == ranges
    assert plan(ranges, gaps=80) == [(0, 480)]


def test_a_large_gap_is_not_read_however_much_there_is_to_spare():
    ranges = [(0, 500_000), (500_000 + MAX_GAP + 1, 500_000)]
    assert plan(ranges) == ranges
    assert plan([(0, 500_000), (500_000 + MAX_GAP, 500_000)]) == [(0, 1_000_000 + MAX_GAP)]


def test_few_ranges_become_windows():
    assert plan([(5000, 10)], spare=16 * KIB) == [(0, 8 * KIB)]
    assert plan([(5000, 10), (100_000, 10)], spare=16 * KIB) == [(4 * KIB, 4 * KIB), (96 * KIB, 4 * KIB)]
    assert plan([(8190, 10)], spare=16 * KIB) == [(0, 16 * KIB)]
    assert plan([(SIZE - 10, 10)], spare=16 * KIB) == [(SIZE // 8192 * 8192, SIZE % 8192)]


def test_many_ranges_are_taken_as_they_are():
    ranges = [(k * 100_000, 512) for k in range(50)]
    assert plan(ranges, spare=16 * KIB) == ranges


def test_a_long_run_comes_in_parts():
    parts = plan([(1000, 5 * 2**20)], size=2**30)
    assert [length for _, length in parts] == [5 * 2**20 // 3, 5 * 2**20 // 3 + 1, 5 * 2**20 // 3 + 1]
    assert parts[0][0] == 1000


@given(
    st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(1, 3 * 10**6)), min_size=1, max_size=40),
    st.integers(0, 2**19),
)
def test_all_that_is_wanted_nothing_twice_and_little_beside(pairs, spare):
    ranges = [FileRange(offset, min(length, SIZE - offset)) for offset, length in pairs]
    made = plan_batch(ranges, size=SIZE, spare=spare)
    wanted = {byte // KIB for each in ranges for byte in range(each.offset, each.stop, KIB)}
    got = [each for each in made if each.length]
    assert all(a.stop <= b.offset for a, b in pairwise(got))
    assert all(each.length <= MAX_REQUEST for each in got)
    assert all(any(a.offset <= k * KIB + KIB - 1 and k * KIB < a.stop for a in got) for k in wanted)
    union = _length_of_union(ranges)
    assert sum(each.length for each in got) <= union * (1 + GAP_SHARE) + 2 * spare


def _length_of_union(ranges):
    total = end = 0
    for each in sorted(ranges, key=lambda r: r.offset):
        total += max(0, each.stop - max(end, each.offset))
        end = max(end, each.stop)
    return total
