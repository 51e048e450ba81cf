import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.errors import OutOfRangeError, UsageError
from shadowzarr.virtual.axes import compose, numbers_between
from shadowzarr.virtual.indexing import normalized_axis, parse_index

ends = st.none() | st.integers(-8, 8)
slices = st.builds(slice, ends, ends, st.sampled_from((None, 1, 2, 3, -1, -2)))


@given(st.lists(slices | st.integers(-5, 4), max_size=3), st.booleans())
def test_slices_and_integers_are_numpy_s(parts, dots):
    index = (..., *parts) if dots else tuple(parts)
    values = np.arange(125).reshape(5, 5, 5)
    picks = parse_index(index, values.shape)
    assert len(picks) == 3
    found = values[np.ix_(*([pick] if isinstance(pick, int) else pick for pick in picks))]
    assert found.ravel().tolist() == values[index].ravel().tolist()


@pytest.mark.parametrize(
    ("index", "picked"),
    [
        ([2, 0, 1], [2, 0, 1]),
        (np.array([-1, -5]), [4, 0]),
        ([1, 2, 3], [1, 2, 3]),
        ([4, 2, 0], [4, 2, 0]),
        ([1, 1], [1, 1]),
        ([], []),
        ([True, False, True, False, False], [0, 2]),
        (np.zeros(5, bool), []),
        (range(1, 4), [1, 2, 3]),
        (range(-1, 1), [4, 0]),
        ((slice(None),), [0, 1, 2, 3, 4]),
        ((), [0, 1, 2, 3, 4]),
        (..., [0, 1, 2, 3, 4]),
    ],
    ids=str,
)
def test_lists(index, picked):
    (found,) = parse_index(index, [5])
    assert list(found) == picked
    assert list(found) == np.arange(5)[list(index) if isinstance(index, range) else index].tolist()


def test_a_long_range_is_no_list():
    (found,) = parse_index(range(10**12), [10**12])
    assert found == range(10**12)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (5, "index 5 is out of bounds for axis 0 with size 5"),
        (-6, "index -6 is out of bounds for axis 0 with size 5"),
        ((0, 7), "index 7 is out of bounds for axis 1 with size 4"),
        (([0, 5],), "index 5 is out of bounds for axis 0"),
        (range(3, 6), "index 5 is out of bounds"),
        ((0, 0, 0), "too many indices: the array has 2 axes, but 3 were indexed"),
        (([True, False],), "axis 0: a mask of 2 booleans; the axis has 5 elements"),
    ],
    ids=str,
)
def test_out_of_range(index, message):
    with pytest.raises(OutOfRangeError, match=message):
        parse_index(index, [5, 4])
    with pytest.raises(IndexError):
        parse_index(index, [5, 4])


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (None, r"stack\(\[array\], axis\)"),
        (1.0, "axis 0: '1.0' is no index"),
        ("name", "axis 0: 'name' is no index"),
        (True, "axis 0: True is no index"),
        ((..., ...), "one '...' at most"),
        (slice(0, 1.5), "axis 0: .* is no slice"),
        (slice(0, 5, 0), "axis 0: .* is no slice"),
        ([0.5], "axis 0: a list of float64"),
        (np.zeros((2, 2), int), r"axis 0: a list of shape \(2, 2\)"),
        (([0], [1]), r"one list at most.*array\[rows\]\[:, columns\]"),
        ((0, slice(None), [1]), r"between a list and an integer.*array\[0\]\[:, columns\]"),
    ],
    ids=str,
)
def test_what_is_no_index_here(index, message):
    with pytest.raises(UsageError, match=message):
        parse_index(index, [5, 4, 3])


def test_a_list_beside_an_integer_is_numpy_s():
    values = np.arange(60).reshape(5, 4, 3)
    for index in ((slice(None), 1, [2, 0]), (1, [2, 0]), ([2, 0], 1)):
        picks = parse_index(index, values.shape)
        found = values[np.ix_(*([pick] if isinstance(pick, int) else pick for pick in picks))]
        assert found.ravel().tolist() == values[index].ravel().tolist()


@pytest.mark.parametrize(("axis", "found"), [(0, 0), (-1, 2), (2, 2)])
def test_axes(axis, found):
    assert normalized_axis(axis, 3) == found


@pytest.mark.parametrize("axis", [3, -4, 1.5, None])
def test_no_axes(axis):
    with pytest.raises(UsageError, match="axis"):
        normalized_axis(axis, 3)


@given(slices, slices)
def test_what_is_taken_of_what_was_taken(first, then):
    once = range(7)[first]
    twice = compose(once, range(len(once))[then])
    assert list(twice) == list(range(7))[first][then]


@given(slices, st.lists(st.integers(0, 6), max_size=5))
def test_lists_of_what_was_taken(first, then):
    once = range(7)[first]
    then = [number for number in then if number < len(once)]
    assert list(compose(once, np.array(then, np.int64))) == [once[number] for number in then]


@given(
    st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.sampled_from((1, 2, 3, -1, -2, -3))),
    st.data(),
)
def test_numbers_between(values, data):
    low = data.draw(st.integers(-12, 12))
    high = data.draw(st.integers(low, 12))
    assert list(numbers_between(values, low, high)) == [
        n for n, value in enumerate(values) if low <= value < high
    ]
