import pytest
from h5py import h5s
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.formats.hdf5.hyperslabs import Box, NotRegularError, box_of, paired_axes, segments

ENDLESS = h5s.UNLIMITED


def test_a_selection_of_a_dataspace() -> None:
    space = h5s.create_simple((10, 20))
    space.select_hyperslab((1, 0), (3, 20), (2, 1), (1, 1))
    found = box_of(space)
    assert found is not None
    assert found.selected() == (3, 20)
    space.select_hyperslab((9, 0), (1, 1), op=h5s.SELECT_OR)
    assert box_of(space) is None
    space.select_elements([(0, 1)])
    assert box_of(space) is None


def test_axes_pair_but_for_those_of_one_element() -> None:
    image = Box(((0, 1, 1, 4), (0, 1, 1, 6)))
    frame = Box(((3, 1, 1, 1), (0, 1, 1, 4), (0, 1, 1, 6)))
    assert paired_axes(frame, image) == [(1, 0), (2, 1)]
    assert paired_axes(image, image) == [(0, 0), (1, 1)]
    with pytest.raises(NotRegularError):
        paired_axes(frame, Box(((0, 1, 1, 6), (0, 1, 1, 4))))


@pytest.mark.parametrize(
    ("ours", "theirs", "extents", "wanted"),
    [
        ((2, 1, 1, 6), (0, 1, 6, 1), (20, 6), [(2, 0, 6)]),
        ((0, 4, 3, 2), (0, 1, 1, 6), (20, 6), [(0, 0, 2), (4, 2, 2), (8, 4, 2)]),
        ((0, 4, 3, 2), (0, 1, 1, 6), (6, 6), [(0, 0, 2), (4, 2, 2)]),
        ((0, 1, 1, 6), (0, 1, 1, 6), (20, 4), [(0, 0, 4)]),
        ((3, 1, 1, ENDLESS), (0, 1, 1, ENDLESS), (9, 100), [(3, 0, 6)]),
        ((1, 2, ENDLESS, 1), (0, 1, ENDLESS, 1), (8, 3), [(1, 0, 1), (3, 1, 1), (5, 2, 1)]),
        ((0, 3, ENDLESS, 3), (0, 1, ENDLESS, 1), (9, 4), [(0, 0, 4)]),
    ],
)
def test_segments(ours: tuple, theirs: tuple, extents: tuple, wanted: list) -> None:
    assert [tuple(part) for part in segments(ours, theirs, extents)] == wanted


def test_too_many_blocks() -> None:
    with pytest.raises(NotRegularError):
        segments((0, 2, 10**9, 1), (0, 1, 1, 10**9), (2 * 10**9, 10**9))


axes = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 5), st.integers(1, 3)).map(
    lambda it: (it[0], it[1] + it[3], it[2], it[3])
)


@given(axes, axes, st.integers(1, 20), st.integers(1, 20))
def test_segments_pair_the_elements_in_order(ours: tuple, theirs: tuple, one: int, other: int) -> None:
    def elements(axis: tuple) -> list[int]:
        start, stride, count, block = axis
        return [start + number * stride + at for number in range(count) for at in range(block)]

    pairs = zip(elements(ours), elements(theirs), strict=False)
    wanted = [pair for pair in pairs if pair[0] < one and pair[1] < other]
    parts = segments(ours, theirs, (one, other))
    assert [(a + n, b + n) for a, b, length in parts for n in range(length)] == wanted
