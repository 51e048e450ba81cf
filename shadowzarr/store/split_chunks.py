"""Which chunks a reader of plain byte ranges can take where they are, and which it must be handed.

Bridges to stores that know byte ranges alone hand over the first as numbers, and read the others through
`RfsStore`, which pads, selects, and refuses by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..access.locations import without_query
from ..access.sources import describe
from ..refs.chunk_index import MISSING
from ..refs.document import SourceEntry
from .chunk_table import HELD, ChunkTable


@dataclass(frozen=True)
class SplitChunks:
    """The chunks of one array.

    Attributes
    ----------
    runs : list of (int, ChunkTable)
        Those that are whole in a file, by the file's number; lengths are filled in.
    held : ChunkTable
        Those whose bytes must be read.
    """

    runs: Sequence[tuple[int, ChunkTable]]
    held: ChunkTable


class FileSizes:
    """Bytes of the files that chunks are in.

    Parameters
    ----------
    locations : sequence of str
        By number.
    sources : mapping
        What a document says of files, by their locations.
    """

    def __init__(self, locations: Sequence[str], sources: Mapping[str, SourceEntry]) -> None:
        self._locations = locations
        self._sources = sources
        self._asked: dict[str, int | None] = {}

    def size(self, number: int, *, ask: bool = False) -> int | None:
        """Bytes of a file; one that is not recorded is asked only when they must be known.

        Raises
        ------
        ReadError
            When a file is asked and does not answer.
        """
        location = self._locations[number]
        entry = self._sources.get(location)
        if entry is not None:
            return entry["size"]
        if ask and location not in self._asked:
            self._asked[location] = describe(location, url=without_query(location)).size
        return self._asked.get(location)


def split(table: ChunkTable, sizes: FileSizes, *, nbytes: int | None, is_selected: bool) -> SplitChunks:
    """Divide the chunks of an array.

    Parameters
    ----------
    table : ChunkTable
        Where they are.
    sizes : FileSizes
        Of the files that the table numbers.
    nbytes : int or None
        Bytes of every chunk, when they are not compressed.
    is_selected : bool
        Whether a selection says which bytes of a reference belong to the array.
    """
    table = _with_lengths_of_files(table, sizes)
    is_held = table.files == HELD
    if is_selected:
        is_held[:] = True
    if nbytes is not None:
        is_held |= _is_partial(table, nbytes, sizes)
    if not is_held.any():
        return SplitChunks(list(_by_file(table)), table.part(is_held))
    return SplitChunks(list(_by_file(table.part(~is_held))), table.part(is_held))


def _by_file(table: ChunkTable) -> Iterator[tuple[int, ChunkTable]]:
    """Chunks of each file; their order in it stays that of the grid."""
    numbers, counts = np.unique(table.files, return_counts=True)
    if len(numbers) == 1:
        parts = [table]
    else:
        order = np.argsort(table.files, kind="stable")
        parts = [table.part(rows) for rows in np.split(order, np.cumsum(counts)[:-1])]
    yield from zip(numbers.tolist(), parts, strict=False)


def _with_lengths_of_files(table: ChunkTable, sizes: FileSizes) -> ChunkTable:
    """Lengths, those of whole files filled in."""
    whole = (table.lengths == np.uint64(MISSING)) & (table.files != HELD)
    if not whole.any():
        return table
    lengths = table.lengths.copy()
    numbers, places = np.unique(table.files[whole], return_inverse=True)
    found = [sizes.size(number, ask=True) or 0 for number in numbers.tolist()]
    lengths[whole] = np.array(found, np.uint64)[places]
    return replace(table, lengths=lengths)


def _is_partial(table: ChunkTable, nbytes: int, sizes: FileSizes) -> npt.NDArray[np.bool_]:
    """Which plain chunks are not whole in their file: our store pads them, or refuses them by name."""
    numbers, places = np.unique(table.files, return_inverse=True)
    found = [None if number == HELD else sizes.size(number) for number in numbers.tolist()]
    ends = np.array([MISSING if size is None else size for size in found], np.uint64)[places]
    partial: npt.NDArray[np.bool_] = (table.lengths != np.uint64(nbytes)) | (
        table.offsets + table.lengths > ends
    )
    return partial
