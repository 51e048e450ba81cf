"""What was read stays, once, and is found wherever it begins."""

from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.access.kept_ranges import KeptRanges
from shadowzarr.refs.byte_range import FileRange

CONTENT = bytes(range(256)) * 4


def kept(*rounds, max_bytes=10_000):
    ranges = KeptRanges(max_bytes)
    for offsets in rounds:
        wanted = [FileRange(*item) for item in offsets]
        ranges.add(wanted, [CONTENT[each.offset : each.stop] for each in wanted])
    return ranges


def test_bytes_from_a_place_on():
    ranges = kept([(100, 50), (300, 10)])
    assert ranges.at(99) is None
    assert ranges.at(100) == CONTENT[100:150]
    assert ranges.at(149) == CONTENT[149:150]
    assert ranges.at(150) is None
    assert ranges.at(305) == CONTENT[305:310]
    assert ranges.start_of(149) == 100
    assert ranges.start_of(150) is None


def test_what_overlaps_is_kept_once():
    ranges = kept([(100, 50)], [(200, 50)], [(90, 200)])
    assert ranges.nbytes == 200
    assert ranges.at(90) == CONTENT[90:100]
    assert ranges.at(150) == CONTENT[150:200]
    assert ranges.at(250) == CONTENT[250:290]


def test_the_oldest_round_goes_and_the_last_one_never():
    ranges = kept([(0, 100)], [(200, 100)], [(400, 100)], max_bytes=250)
    assert ranges.at(0) is None
    assert ranges.at(200) is not None
    assert ranges.nbytes == 200
    assert kept([(0, 100)], [(200, 300)], max_bytes=250).nbytes == 300


def test_nothing_after_clearing():
    ranges = kept([(0, 100)])
    ranges.clear()
    assert ranges.at(0) is None
    assert ranges.nbytes == 0


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(1, 120)), max_size=20))
def test_any_ranges_in_any_order(pairs):
    ranges = kept(*([pair] for pair in pairs))
    known = {byte for offset, length in pairs for byte in range(offset, offset + length)}
    assert ranges.nbytes == len(known)
    for place in range(len(CONTENT)):
        found = ranges.at(place)
        assert (found is not None) == (place in known)
        if found is not None:
            assert found == CONTENT[place : place + len(found)]
