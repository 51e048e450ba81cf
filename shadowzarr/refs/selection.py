"""Selections: arrays stored together with bytes that do not belong to them.

Every reference of such an array is read as consecutive records of ``record_size`` bytes; from each
the ranges in ``keep`` are taken and joined in the order listed. Pure: which bytes to read for a part
of the joined data, and which of them to keep.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidReferencesError, OutOfRangeError, UsageError
from .byte_range import FileRange
from .document import SelectionEntry
from .node_checks import LARGEST, is_count


@dataclass(frozen=True, slots=True)
class Selection:
    """Which bytes of each record belong to the array.

    Attributes
    ----------
    record_size : int
        Bytes from the start of one record to the start of the next.
    keep : tuple of (int, int)
        Half-open byte ranges within a record, in the order in which they are joined.
    """

    record_size: int
    keep: tuple[tuple[int, int], ...]

    @property
    def kept_size(self) -> int:
        """Bytes of the array in one record."""
        return sum(stop - start for start, stop in self.keep)

    @classmethod
    def from_entry(cls, entry: SelectionEntry) -> Selection:
        """Read a document's entry.

        Raises
        ------
        InvalidReferencesError
            When a range lies outside the record, or nothing is kept.
        """
        record_size = entry["record_size"]
        keep = tuple((start, stop) for start, stop in entry["keep"])
        if not is_count(record_size) or not all(is_count(end) for ends in keep for end in ends):
            raise InvalidReferencesError(f"a selection has {entry!r}; expected whole numbers"[:200])
        if not keep or not all(0 <= start < stop <= record_size for start, stop in keep):
            raise InvalidReferencesError(
                f"a selection keeps {entry['keep']} of records of {record_size} bytes"
            )
        return cls(record_size, keep)


@dataclass(frozen=True, slots=True)
class SelectedRange:
    """The bytes to read for a part of a selected chunk, and what to take from them.

    Attributes
    ----------
    range : FileRange
        Whole records of the file, but for the last one, which ends where what is wanted of it ends.
    skip : int
        Bytes to drop from the start of what is kept.
    length : int
        Bytes of the part that was asked for.
    """

    range: FileRange
    skip: int
    length: int


def selected_length(stored: int, selection: Selection) -> int:
    """Bytes of the array in a reference of ``stored`` bytes (whole records; the last may be cut)."""
    records, rest = divmod(stored, selection.record_size)
    whole = rest >= max(stop for _, stop in selection.keep)
    return (records + (1 if whole else 0)) * selection.kept_size


def file_range(offset: int, start: int, stop: int, selection: Selection) -> SelectedRange:
    """Which bytes of the file hold bytes ``start`` to ``stop`` of a selected chunk.

    Parameters
    ----------
    offset : int
        Where the chunk's first record starts in the file.
    start, stop : int
        Half-open part of the joined bytes.
    selection : Selection
        What is kept.
    """
    if start >= stop:
        return SelectedRange(FileRange(offset, 0), 0, 0)
    kept = selection.kept_size
    first, last = start // kept, (stop - 1) // kept
    end = last * selection.record_size + _end(stop - last * kept, selection)
    begin = first * selection.record_size
    return SelectedRange(FileRange(offset + begin, end - begin), start - first * kept, stop - start)


def _end(nbytes: int, selection: Selection) -> int:
    """Where in a record the last of its first ``nbytes`` kept bytes ends."""
    end = 0
    for start, stop in selection.keep:
        if nbytes <= 0:
            break
        end = max(end, min(stop, start + nbytes))
        nbytes -= stop - start
    return end


def take(data: bytes | bytearray | memoryview, part: SelectedRange, selection: Selection) -> bytes:
    """The bytes that were asked for, out of what `file_range` said to read."""
    if part.length == 0:
        return b""
    view = np.frombuffer(data, dtype=np.uint8)
    records = -(-len(view) // selection.record_size)
    padded = np.zeros(records * selection.record_size, dtype=np.uint8)
    padded[: len(view)] = view
    table = padded.reshape(records, selection.record_size)
    joined = np.concatenate([table[:, start:stop] for start, stop in selection.keep], axis=1)
    return joined.tobytes()[part.skip : part.skip + part.length]


def columns_selection(
    *, n_columns: int, itemsize: int, columns: slice | Sequence[int] | Sequence[bool]
) -> tuple[int, list[list[int]]]:
    """The selection that keeps some columns of rows of equal items.

    Parameters
    ----------
    n_columns : int
        Items in a stored row.
    itemsize : int
        Bytes of an item.
    columns : slice, or sequence of int or bool
        Which of them, in which order; neighbours are joined into one range.

    Returns
    -------
    record_size : int
        Bytes of a row.
    keep : list of [int, int]
        Half-open byte ranges of the row.

    Raises
    ------
    OutOfRangeError
        When a column is not in the row; also an IndexError.
    UsageError
        When no column is left, or an argument is none.
    """
    n_columns, itemsize = _at_least_one(n_columns, "n_columns"), _at_least_one(itemsize, "itemsize")
    if n_columns * itemsize > LARGEST:
        raise UsageError(f"n_columns {n_columns} of itemsize {itemsize}: no file has such rows")
    keep: list[list[int]] = []
    for first, stop in _runs(_chosen(columns, n_columns)):
        if keep and keep[-1][1] == first * itemsize:
            keep[-1][1] = stop * itemsize
        else:
            keep.append([first * itemsize, stop * itemsize])
    if not keep:
        raise UsageError("columns: a selection must keep at least one column")
    return n_columns * itemsize, keep


def _at_least_one(value: Any, argument: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1 or isinstance(value, bool):
        raise UsageError(f"{argument} is {value!r:.80}; expected a whole number of at least 1")
    return number


def _chosen(columns: Any, n_columns: int) -> Sequence[int]:
    """Numbers of columns, counted from the first."""
    expected = f"columns {columns!r:.80}: expected a slice, or a list of integers or booleans"
    try:
        if isinstance(columns, slice):
            return range(n_columns)[columns]
        given = np.asarray(columns if isinstance(columns, np.ndarray) else list(columns))
    except (TypeError, ValueError) as error:
        raise UsageError(expected) from error
    if given.dtype == np.bool_ and given.shape == (n_columns,):
        return [int(number) for number in np.flatnonzero(given)]
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise UsageError(f"{expected}, one for each of {n_columns} columns")
    numbers = [int(number) for number in given]
    for number in numbers:
        if not -n_columns <= number < n_columns:
            raise OutOfRangeError(f"columns: there is no column {number} in a row of {n_columns}")
    return [number % n_columns for number in numbers]


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of neighbours; a range of numbers is one without being looked through."""
    if isinstance(numbers, range) and numbers.step == 1:
        if numbers:
            yield numbers.start, numbers.stop
        return
    for number in numbers:
        yield number, number + 1
