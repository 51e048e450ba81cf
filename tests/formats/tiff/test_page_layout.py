import numpy as np
import pytest

from shadowzarr.formats.tiff.page_layout import (
    PageLayout,
    Placement,
    grid_of,
    pieces_nbytes,
    place_page,
    slab_rows,
    spacing,
)

STRIPS = PageLayout("YX", (10, 12), (4, 12))
TILES = PageLayout("YX", (20, 20), (16, 16), is_tiled=True)
PLANES = PageLayout("SYX", (3, 10, 12), (1, 4, 12))


@pytest.mark.parametrize(
    ("page", "grid", "short"), [(STRIPS, (3, 1), 2), (TILES, (2, 2), 0), (PLANES, (3, 3, 1), 2)]
)
def test_segments_of_a_page(page: PageLayout, grid: tuple[int, ...], short: int) -> None:
    assert page.grid == grid
    assert page.short_rows == short


def test_an_axis_that_a_page_does_not_have() -> None:
    assert STRIPS.edge("Z") == 1
    assert STRIPS.edge("Y") == 4


def test_strips_end_with_the_page_and_tiles_do_not() -> None:
    assert pieces_nbytes(STRIPS, 24).tolist() == [96, 96, 48]
    assert pieces_nbytes(TILES, 16).tolist() == [256] * 4
    assert pieces_nbytes(PLANES, 12).tolist() == [48, 48, 24] * 3
    assert pieces_nbytes(STRIPS.whole(), 24).tolist() == [240]


@pytest.mark.parametrize(
    ("shape", "page", "placement"),
    [
        ((10, 12), STRIPS, Placement((), (4, 12), (0, 1))),
        ((5, 10, 12), STRIPS, Placement((5,), (1, 4, 12), (1, 2))),
        ((2, 5, 1, 10, 12), STRIPS, Placement((2, 5, 1), (1, 1, 1, 4, 12), (3, 4))),
        ((5, 10, 1, 12, 1), STRIPS, Placement((5,), (1, 4, 1, 12, 1), (1, 3))),  # the series adds axes
        ((5, 3, 10, 12), PLANES, Placement((5,), (1, 1, 4, 12), (1, 2, 3))),
        ((7, 12), PageLayout("YX", (1, 12), (1, 12)), Placement((7,), (1, 12), (None, 1))),  # and lacks one
        ((10, 10), PageLayout("YX", (10, 1), (10, 1)), Placement((10,), (1, 10), (1, None))),
        ((100,), PageLayout("YX", (1, 100), (1, 100)), Placement((), (100,), (None, 0))),
        ((), PageLayout("YX", (1, 1), (1, 1)), Placement((), (), (None, None))),
    ],
)
def test_a_page_is_at_the_end_of_its_series(
    shape: tuple[int, ...], page: PageLayout, placement: Placement
) -> None:
    assert place_page(shape, page) == placement


@pytest.mark.parametrize(
    ("shape", "page"),
    [
        ((120,), STRIPS),
        ((5, 12, 10), STRIPS),
        ((100,), PageLayout("YX", (1, 100), (16, 16), is_tiled=True)),  # a row of tiles is no piece of them
    ],
)
def test_a_series_that_is_not_made_of_pages(shape: tuple[int, ...], page: PageLayout) -> None:
    assert place_page(shape, page) is None


@pytest.mark.parametrize(
    ("shape", "pages", "rows"),
    [
        ((100, 10), 1, None),  # 1,000 bytes are one chunk
        ((200, 10), 1, 100),
        ((211, 10), 1, 100),  # a prime number of rows: the last slab reaches past the page
        ((211, 10), 2, None),  # and would reach into the next one
        ((200, 10), 2, 100),
        ((1, 4000), 1, None),  # a row is not cut
    ],
)
def test_large_pages_are_cut_into_slabs(shape: tuple[int, int], pages: int, rows: int | None) -> None:
    page = PageLayout("YX", shape, shape)
    assert slab_rows(page, pages, 1, 1000) == rows


def test_slabs_of_separate_planes() -> None:
    page = PageLayout("SYX", (3, 200, 10), (3, 200, 10))
    assert slab_rows(page, 1, 1, 1000) == 100
    assert page.cut(100).edges == (1, 100, 10)
    assert page.cut(100).grid == (3, 2, 1)
    assert slab_rows(PageLayout("SYX", (3, 211, 10), (3, 211, 10)), 1, 1, 1000) is None


def test_even_spacing() -> None:
    assert spacing(np.array([8, 18, 28], np.uint64)) == 10
    assert spacing(np.array([8, 18, 29], np.uint64)) is None
    assert spacing(np.array([28, 18, 8], np.uint64)) is None
    assert spacing(np.array([8, 8], np.uint64)) is None


def test_a_grid() -> None:
    assert grid_of((10, 12), (4, 12)) == (3, 1)
    assert grid_of((), ()) == ()
