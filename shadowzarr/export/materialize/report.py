"""What `materialize` wrote, and how far it is meanwhile."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass

from ...formatting import format_bytes, format_count
from ...notebook import SummaryShown


@dataclass(frozen=True, slots=True)
class ArrayReport:
    """One array that was rewritten, or whose chunks were copied out of files.

    Attributes
    ----------
    path : str
        Without leading slash.
    shape, chunks : tuple of int
        Of the new array.
    shards : tuple of int or None
        Shape of a shard, where it has shards.
    dtype : str
        As numpy names it.
    how : str
        ``"rewritten"``, or ``"copied"`` for chunks that stayed as they are stored.
    nbytes : int
        Bytes of its values.
    stored_nbytes : int
        Bytes of its chunks in the new store.
    written, found, empty : int
        Chunks or shards that were written, that an earlier run had written, and that hold nothing but fill
        values and need not be written.
    """

    path: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    dtype: str
    how: str
    nbytes: int
    stored_nbytes: int
    written: int
    found: int
    empty: int


@dataclass(frozen=True, slots=True, repr=False)
class MaterializeReport(SummaryShown):
    """The outcome of `materialize`.

    Attributes
    ----------
    out : str
        Where the store is.
    groups : int
        Groups of the store.
    arrays : tuple of ArrayReport
        Arrays whose values were in files.
    copied : int
        Other arrays, whose values were in the references.
    verified : bool
        Whether everything was read back and compared.
    left_out : tuple of (path, kind, reason)
        What the references leave out of their source, and so the store.
    """

    out: str
    groups: int
    arrays: tuple[ArrayReport, ...]
    copied: int
    verified: bool
    left_out: tuple[tuple[str, str, str], ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the values of all arrays that were in files."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def stored_nbytes(self) -> int:
        """Bytes of their chunks in the new store."""
        return sum(array.stored_nbytes for array in self.arrays)

    def summary(self) -> str:
        """The outcome for people, one line for each array that was in files."""
        total = format_count(len(self.arrays) + self.copied, "array")
        lines = [
            f"{self.out}: {format_count(self.groups, 'group')}, {total}; {format_bytes(self.nbytes)} of "
            f"values in {format_bytes(self.stored_nbytes)}{', read back and equal' if self.verified else ''}"
        ]
        lines += [_line(array) for array in self.arrays]
        return "\n".join(lines)

    def to_json(self) -> str:
        """The outcome for programs."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2)


def _line(array: ArrayReport) -> str:
    shards = f" in shards {list(array.shards)}" if array.shards else ""
    before = f", {format_count(array.found, 'chunk')} there before" if array.found else ""
    return (
        f"{array.how}: /{array.path}: {list(array.shape)} {array.dtype}, chunks {list(array.chunks)}{shards}"
        f"; {format_bytes(array.nbytes)} in {format_bytes(array.stored_nbytes)}{before}"
    )


@dataclass(frozen=True, slots=True)
class MaterializeProgress:
    """How far it is.

    Attributes
    ----------
    path : str
        An array that was just worked on.
    nbytes : int
        Bytes of values that are done.
    total : int
        Bytes of all values that are in files.
    arrays : int
        Arrays that are done.
    array_count : int
        All arrays.
    """

    path: str
    nbytes: int
    total: int
    arrays: int
    array_count: int


Progress = Callable[[MaterializeProgress], None]
"""Hears how far it is, from several threads, one at a time."""
