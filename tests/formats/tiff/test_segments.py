from types import SimpleNamespace

import numpy as np
import pytest

from shadowzarr.formats.cannot_represent import CannotRepresentError
from shadowzarr.formats.tiff.segments import Segments, in_one_piece, read_segments


def page(offsets: list[int], counts: list[int]) -> SimpleNamespace:
    return SimpleNamespace(dataoffsets=tuple(offsets), databytecounts=tuple(counts))


def test_pages_become_a_table() -> None:
    found = read_segments([page([8, 18], [10, 5]), page([100, 0], [10, 0])], 2)
    assert found.offsets.tolist() == [[8, 18], [100, 0]]
    assert found.counts.dtype == np.uint64
    assert found.written.tolist() == [[True, True], [True, False]]


def test_what_a_page_does_not_list_is_not_written() -> None:
    found = read_segments([page([8, 18], [10, 5]), page([8, 18, 28], [1, 2, 3])], 3)
    assert found.offsets.tolist() == [[8, 18, 0], [8, 18, 28]]


def test_what_a_page_lists_too_much_is_left_away() -> None:
    assert read_segments([page([8, 18, 28], [1, 2, 3])], 2).counts.tolist() == [[1, 2]]


@pytest.mark.parametrize("listed", [0, 1, 4])
def test_a_page_that_lists_hardly_any_is_damaged(listed: int) -> None:
    with pytest.raises(CannotRepresentError, match=f"lists {listed} strips or tiles; its size asks for 9"):
        read_segments([page([8] * listed, [1] * listed)], 9)


@pytest.mark.parametrize("place", [-5, 2**63, 2**70, 6.4e-312, 120.0, float("nan"), "8"])
def test_places_that_no_file_has(place: int) -> None:
    with pytest.raises(CannotRepresentError):
        read_segments([page([place], [1])], 1)


def test_segments_past_the_end_are_named() -> None:
    found = Segments(np.array([[8, 18], [28, 95]], np.uint64), np.array([[10, 10], [10, 10]], np.uint64))
    found.check_inside(105)
    with pytest.raises(CannotRepresentError, match=r"segment 1 of page 1, bytes 95 to 105, .* \(104 bytes"):
        found.check_inside(104)
    with pytest.raises(CannotRepresentError, match="segment 1 of page 9,"):
        found.check_inside(104, [7, 9])


def test_segments_that_were_never_written_lie_nowhere() -> None:
    Segments(np.array([[0, 500]], np.uint64), np.array([[10, 0]], np.uint64)).check_inside(5)


def test_pages_in_one_piece() -> None:
    offsets = np.array([[8, 18, 28], [8, 18, 29], [100, 110, 120]], np.uint64)
    found = in_one_piece(Segments(offsets, offsets), np.array([10, 10, 4], np.uint64))
    assert found.tolist() == [True, False, True]
