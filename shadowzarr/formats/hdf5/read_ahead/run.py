"""read_ahead: an HDF5 file's whole metadata graph, fetched level by level before HDF5 opens the file.

It only warms the cache that HDF5 reads from, and keeps the chunk tables that were found on the way. A node
that is not understood costs a slower read, never a wrong result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ....refs.byte_range import FileRange
from ..chunk_table import ChunkTable
from .fields import NOT_UNDERSTOOD
from .graph import Graph
from .objects import walk_file
from .rounds import Bytes, Limits, Rounds, Tally
from .superblock import LENGTH, SIGNATURE, Superblock, parse_superblock, places

_NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """What a read-ahead found.

    Attributes
    ----------
    tally : Tally
        What it did.
    tables : dict of int to ChunkTable
        Chunks of chunked datasets, by the address of the dataset's object header, which counts from the end
        of the user block.
    """

    tally: Tally = field(default_factory=Tally)
    tables: dict[int, ChunkTable] = field(default_factory=dict)


def read_ahead(
    source: Bytes,
    file_size: int,
    *,
    limits: Limits = _NO_LIMITS,
    report: Callable[[Tally], None] = lambda _: None,
    also: Sequence[FileRange] = (),
) -> ReadAhead:
    """Fetch what HDF5 will want of a file.

    Parameters
    ----------
    source : Bytes
        The file's bytes.
    file_size : int
        How many there are.
    limits : Limits, optional
        What ends it.
    report : callable, optional
        Called after each round of requests.
    also : sequence of FileRange, optional
        What comes with the first round.
    """
    superblock = _superblock(source, file_size)
    if superblock is None:
        return ReadAhead()
    graph = Graph(superblock, file_size)
    graph.start(walk_file(graph))
    tally = Rounds(graph, source, limits, report, also).run()
    return ReadAhead(tally, graph.tables)


def _superblock(source: Bytes, file_size: int) -> Superblock | None:
    """The superblock, at the first place that has the signature; None when it is of an unknown kind."""
    wanted = [FileRange(place, min(LENGTH, file_size - place)) for place in places(file_size)]
    for count in (1, len(wanted)):  # it is at the first place, unless there is a user block
        missing = [each for each in wanted[:count] if source.at_hand(each) is None]
        if missing:
            source.prefetch(missing)
        for each in wanted[:count]:
            data = source.at_hand(each) or b""
            if data.startswith(SIGNATURE):
                return _parsed(data, each.offset)
    return None


def _parsed(data: bytes, place: int) -> Superblock | None:
    try:
        return parse_superblock(data, place)
    except NOT_UNDERSTOOD:
        return None
