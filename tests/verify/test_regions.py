"""Which chunks are compared: a full comparison covers an array once, a sample has its edges."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.verify.regions import (
    MOST_CORNERS,
    block_shape,
    chunks_in,
    full_regions,
    region_shape,
    sampled_coordinates,
    sampled_regions,
    split,
)

axes = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9)), min_size=0, max_size=3)


@given(axes, st.integers(1, 9), st.integers(1, 400))
def test_full_regions_cover_every_element_once(sizes, itemsize, block_bytes):
    shape, chunks = [n for n, _ in sizes], [c for _, c in sizes]
    seen = np.zeros(shape, int)
    for region in full_regions(shape, chunks, itemsize, block_bytes=block_bytes):
        seen[region] += 1
        size = itemsize * math.prod(region_shape(region))
        assert size <= block_bytes or math.prod(region_shape(region)) == 1
    assert (seen == 1).all()


@given(axes, st.integers(1, 9))
def test_blocks_are_whole_chunks(sizes, itemsize):
    shape, chunks = [n for n, _ in sizes], [c for _, c in sizes]
    block = block_shape(shape, chunks, itemsize, block_bytes=500)
    assert all(edge % chunk == 0 for edge, chunk in zip(block, chunks, strict=True))


def test_many_small_chunks_are_read_together():
    assert block_shape([2048, 160], [1, 1], 2, block_bytes=640) == (2, 160)
    assert len(list(full_regions([65536], [4], 4))) == 1


def test_a_chunk_larger_than_memory_is_read_in_pieces():
    pieces = list(split((slice(0, 100), slice(0, 10)), 8, block_bytes=800))
    assert [piece[0] for piece in pieces] == [slice(n, n + 10) for n in range(0, 100, 10)]


def test_a_scalar_is_one_region():
    assert list(full_regions([], [], 8)) == [()]
    assert list(sampled_regions([], [], 8, seed="0")) == [()]
    assert chunks_in((), ()) == 1


def test_an_empty_array_has_no_region():
    assert list(full_regions([0, 5], [1, 5], 8)) == []
    assert list(sampled_regions([0, 5], [1, 5], 8, seed="0")) == []


@given(st.lists(st.integers(1, 50), min_size=1, max_size=3), st.integers(0, 100))
def test_a_sample_has_the_first_the_last_and_every_edge(grid, seed):
    chosen = sampled_coordinates(grid, seed=str(seed))
    last = tuple(extent - 1 for extent in grid)
    assert (0,) * len(grid) in chosen
    assert last in chosen
    for axis, extent in enumerate(grid):
        assert any(place[axis] == extent - 1 for place in chosen)
    assert set(itertools.product(*({0, end} for end in last))) <= set(chosen)
    assert len(chosen) == len(set(chosen))
    assert all(0 <= at < extent for place in chosen for at, extent in zip(place, grid, strict=True))


def test_a_small_grid_is_taken_whole():
    assert sampled_coordinates([2, 4], seed="0") == list(itertools.product(range(2), range(4)))


def test_a_sample_is_repeatable_and_depends_on_the_seed():
    one = sampled_coordinates([2048, 160], seed="1")
    assert one == sampled_coordinates([2048, 160], seed="1")
    assert one != sampled_coordinates([2048, 160], seed="2")
    assert len(one) <= 4 + 2 + 8


def test_many_axes_do_not_make_thousands_of_corners():
    assert len(sampled_coordinates([4] * 12, seed="0")) <= MOST_CORNERS + 1 + 12 + 8


@pytest.mark.parametrize(("stop", "chunks"), [(4, 1), (5, 2), (12, 3)])
def test_chunks_in_a_region(stop, chunks):
    assert chunks_in((slice(0, stop),), [4]) == chunks
