"""Walks driven in step: what all of them want next is one parallel round of requests.

A walk whose bytes are at hand goes on at once. So the number of rounds is that of the levels of the file's
metadata, whatever their number of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ....access.batches import GAP_SHARE
from ....refs.byte_range import FileRange
from ..chunk_index import IndexRefusedError
from .fields import NOT_UNDERSTOOD, NearRange, Walk
from .graph import Graph
from .pages import in_pages

AROUND = 1536
"""Bytes on either side of a group's node that are read with it.

HDF5 hands out space for metadata in blocks of 2,048 bytes (``H5Pset_meta_block_size``), so that what is near
such a node are mostly nodes of the group's members. With so many bytes 3,000 small objects take the fewest
requests for less than 1.3 times the bytes that HDF5 reads.
"""


class Bytes(Protocol):
    """Where the bytes of a file come from."""

    def at_hand(self, wanted: FileRange) -> bytes | None:
        """The bytes of a range inside the file, or None when a request is needed."""
        ...

    def prefetch(self, ranges: Sequence[FileRange], *, gaps: int | None = None) -> None:
        """Have ranges at hand, with one parallel round of requests; ``gaps`` is as for `plan_batch`."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a read-ahead; HDF5 then reads the rest as it needs it.

    Attributes
    ----------
    rounds : int
        Rounds of requests: levels of a file that goes on and on.
    nodes : int
        Ranges that walks ask for.
    nbytes : int
        Bytes of all ranges that are not at hand.
    """

    rounds: int = 4096
    nodes: int = 4_000_000
    nbytes: int = 192 * 2**20


@dataclass(slots=True)
class Tally:
    """What a read-ahead did.

    Attributes
    ----------
    levels : int
        Rounds of requests.
    nodes : int
        Ranges that walks asked for.
    nbytes : int
        Bytes of those that were not at hand.
    abandoned : int
        Walks that ended at bytes they did not understand.
    is_complete : bool
        Whether no limit was met.
    """

    levels: int = 0
    nodes: int = 0
    nbytes: int = 0
    abandoned: int = 0
    is_complete: bool = True


Waiting = tuple[Walk[None], list[FileRange]]


class Rounds:
    """Drives the walks of one file.

    Parameters
    ----------
    graph : Graph
        The file, whose `started` is what begins.
    source : Bytes
        Its bytes.
    limits : Limits
        What ends it.
    report : callable
        Called after each round.
    also : sequence of FileRange
        What comes with the first round.
    """

    def __init__(
        self,
        graph: Graph,
        source: Bytes,
        limits: Limits,
        report: Callable[[Tally], None],
        also: Sequence[FileRange] = (),
    ) -> None:
        self._graph, self._source, self._limits, self._report = graph, source, limits, report
        self._also = list(also)
        self._waiting: list[Waiting] = []
        self._gaps = self._debt = 0
        self.tally = Tally()

    def run(self) -> Tally:
        """Drive all walks to their ends."""
        self._advance_started()
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            wanted = self._missing(waiting)
            if not self._has_room(wanted):
                self.tally.is_complete = False
                break
            self._source.prefetch([*wanted, *self._also], gaps=self._gaps)
            self._also = []
            self.tally.levels += 1
            self.tally.nbytes += sum(each.length for each in wanted)
            for walk, ranges in waiting:
                self._advance(walk, [self._bytes(each) for each in ranges])
            self._advance_started()
            self._report(self.tally)
        return self.tally

    def _advance_started(self) -> None:
        started = self._graph.started
        while started:
            self._advance(started.popleft(), None)

    def _advance(self, walk: Walk[None], buffers: list[bytes] | None) -> None:
        """Send a walk its bytes, and again as long as what it wants is at hand."""
        try:
            while True:
                ranges = next(walk) if buffers is None else walk.send(buffers)
                buffers = self._all_at_hand(ranges)
                if buffers is None:
                    self._waiting.append((walk, ranges))
                    return
        except StopIteration:
            return
        except (*NOT_UNDERSTOOD, IndexRefusedError):
            self.tally.abandoned += 1  # HDF5 will say what is wrong, if it is

    def _all_at_hand(self, ranges: list[FileRange]) -> list[bytes] | None:
        self.tally.nodes += len(ranges)
        found = []
        for wanted in ranges:
            data = self._source.at_hand(self._cut(wanted))
            if data is None:
                return None
            found.append(data)
        return found

    def _cut(self, wanted: FileRange) -> FileRange:
        """A range without what lies after the end of the file."""
        size = self._graph.file_size
        if wanted.stop <= size and wanted.offset >= 0:
            return wanted
        start = min(max(wanted.offset, 0), size)
        return FileRange(start, max(0, min(wanted.stop, size) - start))

    def _missing(self, waiting: list[Waiting]) -> list[FileRange]:
        asked = {each for _, ranges in waiting for each in ranges}
        missing = [each for each in asked if self._source.at_hand(self._cut(each)) is None]
        wanted = missing if self._graph.page else [self._with_surroundings(each) for each in missing]
        self._share_out(sum(each.length for each in missing), sum(each.length for each in wanted))
        return [self._cut(each) for each in in_pages(wanted, self._graph.page, self._graph.base)]

    def _with_surroundings(self, wanted: FileRange) -> FileRange:
        if not isinstance(wanted, NearRange):
            return wanted
        start = max(0, wanted.offset - AROUND)
        return FileRange(start, wanted.stop + AROUND - start)

    def _share_out(self, missing: int, wanted: int) -> None:
        """Decide how many bytes in gaps are read: the usual share, once that has paid for surroundings."""
        allowed = int(GAP_SHARE * missing)
        self._debt += wanted - missing
        self._gaps = max(0, allowed - self._debt)
        self._debt = max(0, self._debt - allowed)

    def _has_room(self, wanted: list[FileRange]) -> bool:
        limits, tally = self._limits, self.tally
        total = tally.nbytes + sum(each.length for each in wanted)
        return tally.levels < limits.rounds and tally.nodes <= limits.nodes and total <= limits.nbytes

    def _bytes(self, wanted: FileRange) -> bytes:
        data = self._source.at_hand(self._cut(wanted))
        assert data is not None  # noqa: S101 - it was read in this round
        return data
