import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.refs.slabs import cut_axis, largest_divisor, slab_height


@pytest.mark.parametrize(
    ("rows", "row_bytes", "target", "height"),
    [
        (1000, 32, 4096, 125),  # 128 fit; 125 divides
        (64, 200, 4096, 16),
        (6000, 4, 4096, 1000),
        (997, 4, 400, 100),  # a prime: the last slab is short
        (10, 10**9, 4096, 1),
        (58 * 4194304, 1, 4194304, 4194304),
        (3, 1, 100, 3),
        (1, 1, 1, 1),
        (10**12 + 39, 2, 2**22, 2**21),  # a prime of millions of slabs
        (2**52, 2, 2**22, 2**21),
    ],
)
def test_slab_height(rows: int, row_bytes: int, target: int, height: int) -> None:
    assert slab_height(rows, row_bytes, target) == height


def test_a_divisor_is_never_below_half_the_target() -> None:
    for rows in range(1, 500):
        for target in (1, 7, 50, 100):
            height = slab_height(rows, 1, target)
            assert height <= target
            assert rows % height == 0 or height == min(rows, target)
            assert 2 * height >= min(rows, target)


def test_cut_axis() -> None:
    assert cut_axis((5, 3)) == 0
    assert cut_axis((1, 1, 7)) == 2
    assert cut_axis((1, 1)) == 0


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_largest_divisor(number: int, most: int) -> None:
    found = largest_divisor(number, most)
    assert number % found == 0
    assert found <= most
    assert all(number % other for other in range(found + 1, min(most, number, found + 200) + 1))
