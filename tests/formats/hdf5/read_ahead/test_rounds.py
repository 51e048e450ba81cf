"""Walks in step: rounds, what is at hand, what is not understood, and the limits."""

import pytest

from shadowzarr.access.batches import GAP_SHARE
from shadowzarr.formats.hdf5.chunk_index import DamagedIndexError
from shadowzarr.formats.hdf5.read_ahead.fields import NearRange, NotUnderstoodError
from shadowzarr.formats.hdf5.read_ahead.graph import Graph, together
from shadowzarr.formats.hdf5.read_ahead.pages import MAX_PAGE, in_pages
from shadowzarr.formats.hdf5.read_ahead.rounds import AROUND, Limits, Rounds
from shadowzarr.formats.hdf5.read_ahead.superblock import Superblock

from .nodes import SIZES, Memory, drive, ranges

CONTENT = bytes(range(256)) * 4


def chain(*places, log=None):
    """A walk that wants one byte after the other."""
    for place in places:
        (data,) = yield ranges((place, 1))
        if log is not None:
            log.append((place, data))


def run(*walks, known=(), limits=None, **options):
    graph = Graph(Superblock(base=0, sizes=SIZES, root=0), len(CONTENT))
    graph.started.extend(walks)
    memory = Memory(CONTENT, ranges(*known))
    heard = []
    rounds = Rounds(graph, memory, limits or Limits(), lambda tally: heard.append(tally.levels), **options)
    return rounds.run(), memory.rounds, heard


def test_walks_go_on_together():
    log = []
    tally, rounds, heard = run(chain(1, 2, log=log), chain(11, 12, 13))
    assert rounds == [[(1, 1), (11, 1)], [(2, 1), (12, 1)], [(13, 1)]]
    assert log == [(1, b"\1"), (2, b"\2")]
    assert (tally.levels, tally.nodes, tally.nbytes, heard) == (3, 5, 5, [1, 2, 3])


def test_what_is_at_hand_costs_no_round():
    tally, rounds, _ = run(chain(1, 2, 3), chain(11), known=[(1, 2), (11, 1)])
    assert rounds == [[(3, 1)]]
    assert (tally.levels, tally.nodes) == (1, 4)


def test_the_same_range_is_asked_for_once():
    assert run(chain(1), chain(1))[1] == [[(1, 1)]]


def test_something_may_come_with_the_first_round():
    assert run(chain(1, 2), also=ranges((1000, 24)))[1] == [[(1, 1), (1000, 24)], [(2, 1)]]


def test_ranges_past_the_end_are_cut():
    def walk():
        assert (yield ranges((1020, 100), (2000, 5))) == [CONTENT[1020:], b""]

    assert run(walk())[1] == [[(1020, 4)]]


@pytest.mark.parametrize(
    "error", [NotUnderstoodError(), IndexError(), KeyError(), OverflowError(), DamagedIndexError()]
)
def test_a_walk_that_understands_nothing_stops_itself_alone(error):
    def walk():
        yield ranges((5, 1))
        raise error

    tally, rounds, _ = run(walk(), chain(1, 2))
    assert (tally.abandoned, len(rounds), tally.is_complete) == (1, 2, True)


def test_a_mistake_of_ours_is_no_property_of_the_file():
    def walk():
        yield ranges((5, 1))
        raise AttributeError

    with pytest.raises(AttributeError):
        run(walk())


@pytest.mark.parametrize("limits", [Limits(rounds=3), Limits(nbytes=3), Limits(nodes=3)])
def test_limits(limits):
    tally, rounds, _ = run(chain(*range(0, 1000, 2)), limits=limits)
    assert len(rounds) == 3
    assert not tally.is_complete


def test_walks_in_one():
    def walk(place):
        (first,) = yield ranges((place, 1))
        more = yield ranges(*((place + k, 1) for k in range(first[0])))
        return b"".join(more)

    def nothing():
        return "at once"
        yield

    results, rounds = drive(together([walk(2), nothing(), walk(1)]), CONTENT)
    assert results == [b"\2\3", "at once", b"\1"]
    assert rounds == [[(2, 1), (1, 1)], [(2, 1), (3, 1), (1, 1)]]


def test_pages():
    assert in_pages(ranges((10, 5), (600, 900)), 512, 0) == ranges((0, 512), (512, 512), (1024, 512))
    assert in_pages(ranges((600, 20)), 512, 100) == ranges((100, 512), (612, 512))


@pytest.mark.parametrize("page", [0, 100, MAX_PAGE + 1])
def test_no_pages(page):
    assert in_pages(ranges((10, 5)), page, 0) == ranges((10, 5))


def test_many_large_pages_are_not_read_for_a_few_bytes():
    wanted = ranges(*((k * MAX_PAGE, 10) for k in range(20)))
    assert in_pages(wanted, MAX_PAGE, 0) == wanted


class Large(Memory):
    """Keeps how many bytes in gaps each round may read."""

    def __init__(self):
        super().__init__(bytes(100_000))
        self.gaps = []

    def prefetch(self, ranges, gaps=0):
        super().prefetch(ranges)
        self.gaps.append(gaps)


def run_large(*walks, page=0):
    memory = Large()
    graph = Graph(Superblock(base=0, sizes=SIZES, root=0), len(memory.content))
    graph.page = page
    graph.started.extend(walks)
    Rounds(graph, memory, Limits(), lambda _: None).run()
    return memory


def near(*places, length=100):
    for place in places:
        assert len((yield [NearRange(place, length)])[0]) == min(length, 100_000 - place)


def test_what_is_around_a_node_comes_with_it():
    memory = run_large(near(50_000, 200, 99_950), chain(20))
    assert memory.rounds == [
        [(20, 1), (50_000 - AROUND, 100 + 2 * AROUND)],
        [(0, 300 + AROUND)],
        [(99_950 - AROUND, AROUND + 50)],
    ]
    assert run_large(near(50_000, 50_600, 49_000)).rounds == [[(50_000 - AROUND, 100 + 2 * AROUND)]]


def test_pages_of_metadata_need_no_more_around_them():
    assert run_large(near(50_000), page=512).rounds == [[(49_664, 512)]]


def test_surroundings_are_paid_for_by_gaps():
    def wide(place, length):
        yield ranges((place, length))

    assert run_large(wide(0, 50_000)).gaps == [int(GAP_SHARE * 50_000)]
    owed = 2 * AROUND - int(GAP_SHARE * 100)

    def later():
        yield [NearRange(5000, 100)]
        for place in range(10_000, 50_000, 10_000):
            assert len((yield ranges((place, 10_000)))[0]) == 10_000

    allowed = int(GAP_SHARE * 10_000)
    assert run_large(later()).gaps == [0, 0, 0, 3 * allowed - owed, allowed]
