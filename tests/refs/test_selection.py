import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.errors import InvalidReferencesError, UsageError
from shadowzarr.refs.selection import Selection, columns_selection, file_range, selected_length, take

SYNC_DROPPED = Selection(770, ((0, 768),))


@pytest.mark.parametrize(
    ("columns", "keep"),
    [
        (slice(0, 384), [[0, 768]]),
        (slice(384, 385), [[768, 770]]),
        ([0, 2, 3], [[0, 2], [4, 8]]),
        ([3, 2], [[6, 8], [4, 6]]),
        ([-1], [[768, 770]]),
        (np.arange(385) == 5, [[10, 12]]),
        ([False] * 384 + [True], [[768, 770]]),
        ([1, 1], [[2, 4], [2, 4]]),
    ],
)
def test_columns(columns, keep):
    assert columns_selection(n_columns=385, itemsize=2, columns=columns) == (770, keep)


def test_columns_that_are_not_there():
    with pytest.raises(IndexError):
        columns_selection(n_columns=4, itemsize=2, columns=[4])
    with pytest.raises(ValueError, match="at least one"):
        columns_selection(n_columns=4, itemsize=2, columns=slice(4, 4))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": 3}, "columns 3: expected a slice, or a list"),
        ({"columns": [True, False]}, "columns .* one for each of 4 columns"),
        ({"columns": [1.0]}, "columns "),
        ({"columns": [[1]]}, "columns "),
        ({"columns": slice("a")}, "columns "),
        ({"columns": "ab"}, "columns "),
        ({"columns": [-5]}, "columns: there is no column -5 in a row of 4"),
        ({"n_columns": -1}, "n_columns is -1; expected a whole number of at least 1"),
        ({"n_columns": 2**62}, "no file has such rows"),
        ({"itemsize": 0}, "itemsize is 0"),
        ({"itemsize": 2.0}, "itemsize is 2.0"),
    ],
)
def test_columns_that_cannot_be(changes, message):
    with pytest.raises(UsageError, match=message):
        columns_selection(**{"n_columns": 4, "itemsize": 2, "columns": [1], **changes})


def test_many_columns_are_not_counted_one_by_one():
    assert columns_selection(n_columns=2**40, itemsize=2, columns=slice(1, None)) == (2**41, [[2, 2**41]])


def test_only_the_records_that_hold_the_part_are_read():
    part = file_range(1000, 768 * 10, 768 * 12, SYNC_DROPPED)
    assert (part.range.offset, part.range.length) == (1000 + 7700, 770 + 768)


def test_an_empty_part_reads_nothing():
    part = file_range(1000, 5, 5, SYNC_DROPPED)
    assert part.range.length == 0
    assert take(b"", part, SYNC_DROPPED) == b""


@pytest.mark.parametrize("keep", [[], [[0, 9]], [[-1, 2]], [[3, 3]]])
def test_selections_that_make_no_sense(keep):
    with pytest.raises(InvalidReferencesError):
        Selection.from_entry({"record_size": 8, "keep": keep})


@pytest.mark.parametrize(("stored", "length"), [(0, 0), (770, 768), (768, 768), (767, 0), (1540, 1536)])
def test_length_of_a_stored_piece(stored, length):
    assert selected_length(stored, SYNC_DROPPED) == length


@st.composite
def selections(draw):
    size = draw(st.integers(1, 12))
    cuts = st.tuples(st.integers(0, size - 1), st.integers(1, size)).filter(lambda c: c[0] < c[1])
    return Selection(size, tuple(draw(st.lists(cuts, min_size=1, max_size=4))))


@given(selections(), st.integers(1, 6), st.data())
def test_parts_equal_slices_of_the_joined_bytes(selection, records, data):
    file = np.arange(selection.record_size * records, dtype=np.uint8)
    table = file.reshape(records, -1)
    joined = np.concatenate([table[:, a:b] for a, b in selection.keep], axis=1).tobytes()
    start = data.draw(st.integers(0, len(joined)))
    stop = data.draw(st.integers(start, len(joined)))
    part = file_range(0, start, stop, selection)
    read = file[part.range.offset : part.range.stop].tobytes()
    assert len(read) == part.range.length
    assert take(read, part, selection) == joined[start:stop]


@given(selections(), st.integers(1, 6), st.data())
def test_nothing_is_read_past_the_last_byte_that_is_wanted(selection, records, data):
    stop = data.draw(st.integers(1, selection.kept_size * records))
    part = file_range(0, 0, stop, selection)
    places = [
        record * selection.record_size + place
        for record in range(records)
        for start, end in selection.keep
        for place in range(start, end)
    ]
    last_record = (stop - 1) // selection.kept_size * selection.kept_size
    assert part.range.stop == max(places[last_record:stop]) + 1
