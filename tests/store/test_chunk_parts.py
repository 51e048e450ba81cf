import pytest

from shadowzarr.store.chunk_parts import WHOLE, Box, Guess, Part


@pytest.mark.parametrize(
    ("own", "wanted", "expected"),
    [
        (WHOLE, Part(2, 4), b"cd"),
        (WHOLE, Part(-2, None), b"gh"),
        (Part(2, 6), Part(2, 6), b"abcdefgh"),  # all of what was read, whatever that is
        (Part(2, 10), Part(3, 5), b"bc"),
        (Part(2, 10), Part(1, 5), None),
        (Part(2, 10), Part(3, 11), None),
        (Part(2, 10), WHOLE, None),
        (Part(-8, None), Part(1, 2), None),
    ],
)
def test_parts_of_parts(own, wanted, expected):
    assert own.cut(b"abcdefgh", wanted) == expected


def guess(length, observed, *, is_partial=True, small=1000, box=((0, 0), (9, 9))):
    found = Guess(Box.around(box), is_partial=is_partial, small=small)
    for coordinates, part in observed:
        found.learn(coordinates, part, length)
    return found


def test_guesses():
    half = Part(0, 5)
    assert guess(5000, [], is_partial=False).part is None
    assert guess(5000, [((0, 0), WHOLE)], is_partial=False).part == WHOLE
    assert guess(5000, [((0, 0), Part(-8, None))], is_partial=False).part is None  # the index of a shard
    assert guess(5000, [((0, 0), WHOLE)]).part is None  # nothing is known of chunks within
    assert guess(5000, [((0, 0), half), ((1, 1), WHOLE)]).part == WHOLE
    assert guess(5000, [((1, 1), half), ((1, 2), WHOLE)]).part is None
    assert guess(500, [((0, 0), half)]).part == half
    assert guess(500, [((0, 0), half), ((0, 1), WHOLE)]).part == WHOLE
    assert not guess(5000, [((0, 0), half)]).is_safe((0, 5))
    assert guess(5000, [((0, 0), half)]).is_safe((1, 5))
    assert guess(500, [((0, 0), half)]).is_safe((0, 5))
    assert guess(5000, [((0, 0), WHOLE)], is_partial=False).is_safe((0, 5))
