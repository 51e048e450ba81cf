"""A file object over a `RangeReader`, for h5py: few requests, no short reads, no waiting for threads.

Bytes come from three places, in this order: ranges that were prefetched, aligned blocks that were read
before, and a new request. It knows nothing of HDF5; what to prefetch is decided by whoever does.

h5py holds a process-wide lock while it calls `readinto`. Reading there happens on the calling thread and
waits for no other Python thread, because that one may need h5py's lock to go on (when it collects an h5py
object, for instance) and both would wait for ever.
"""

from __future__ import annotations

import io
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence

from ..errors import ReadError
from ..refs.byte_range import FileRange
from . import urllib3_transport  # noqa: F401 - not loaded inside readinto: it may wait for a thread
from .batches import plan_batch
from .kept_ranges import KeptRanges
from .locations import without_query
from .range_reader import RangeReader, default_reader
from .source_identity import Buffer, Source

BLOCK_SIZE = 64 * 2**10
"""Bytes of a block, the smallest request."""
CACHE_BYTES = 256 * 2**20
"""Bytes kept at most."""
HEAD_BYTES = 256 * 2**10
"""Bytes of the head of a file that are worth having at once: what it takes to find the rest."""
_HEAD_BLOCKS = 4  # a writer puts most of a small file's metadata at its head,
_TAIL_BLOCKS = 1  # and what was added when the file was closed at its tail
_MAX_AHEAD_BLOCKS = 16  # 1 MiB: more is wasted where metadata lies between data
_MAX_RUN = 32 * 2**20  # bytes of one request inside readinto
_SPARE_BLOCKS = 4  # read around prefetched ranges that are few


class Remfile(io.RawIOBase):
    """A readable, seekable file whose bytes are read in ranges.

    Opening reads head and tail of the file in one parallel round, unless it is given the head; close it to
    free what it keeps. It is used by one thread at a time, as h5py does.

    Parameters
    ----------
    source : Source
        The file; its size must be known. Every read is checked against it.
    reader : RangeReader, optional
        What reads the bytes; the process's own by default.
    block_size : int, optional
        Bytes of a block.
    cache_bytes : int, optional
        Bytes kept at most, blocks and prefetched ranges each.
    head : bytes, optional
        The file's first bytes, when they were read already; opening then reads nothing.

    Attributes
    ----------
    source : Source
        The file.
    requests : int
        Ranges asked for so far.
    bytes_read : int
        Bytes that came.
    serial_depth : int
        Rounds of requests that had to wait for each other.
    """

    def __init__(
        self,
        source: Source,
        reader: RangeReader | None = None,
        *,
        block_size: int = BLOCK_SIZE,
        cache_bytes: int = CACHE_BYTES,
        head: Buffer = b"",
    ) -> None:
        super().__init__()
        self._blocks: OrderedDict[int, Buffer] = OrderedDict()
        self._prefetched = KeptRanges(cache_bytes)
        if source.size is None:
            raise ReadError(f"{without_query(source.url)}: its size is not known; describe it first")
        self.source = source
        self.requests = self.bytes_read = self.serial_depth = 0
        self._reader = reader or default_reader()
        self._read_one = _reader_of_one(self._reader)
        self._size = source.size
        self._block_size = block_size
        self._max_blocks = max(cache_bytes // block_size, 2)
        self._position = 0
        self._next_block = -1  # the block after the last request: a miss there is a sequential one
        self._ahead = 1
        if head:
            self._take_head(head)
        else:
            self._read_ends()

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move; a place past the end is allowed, one before the start is not."""
        self._check_open()
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"cannot seek to {base + offset}, before the start of the file")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: object, /) -> int:
        """Fill a buffer.

        Returns
        -------
        int
            Bytes read: all of the buffer, or what is left of the file; 0 at its end.

        Raises
        ------
        ReadError, SourceChangedError
            When not all of them came.
        """
        self._check_open()
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        count = max(0, min(len(target), self._size - self._position))
        done = 0
        while done < count:
            place = self._position + done
            found = self._prefetched.at(place)
            if found is None:
                found = self._from_blocks(place, count - done)
            n = min(len(found), count - done)
            target[done : done + n] = found[:n]
            done += n
        self._position += count
        return count

    def prefetch(
        self, ranges: Sequence[FileRange], *, spare: int | None = None, gaps: int | None = None
    ) -> None:
        """Read ranges in one parallel round and keep them; those at hand already are left out.

        What is read beside them is bounded; see `batches.plan_batch`. Not to be called while h5py reads this
        file: before it is opened, or between calls of h5py.

        Parameters
        ----------
        ranges : sequence of FileRange
            In any order; cut at the end of the file.
        spare, gaps : int, optional
            Bytes that may be read beside them, and in gaps between them; see `batches.plan_batch`. Some
            blocks by default, and a share of what is missing.

        Raises
        ------
        ReadError, SourceChangedError
            When they cannot be read.
        """
        self._check_open()
        missing = [self._missing(self._cut(each)) for each in ranges]
        spare = _SPARE_BLOCKS * self._block_size if spare is None else spare
        missing = [each for each in missing if each.length]
        wanted = plan_batch(missing, size=self._size, spare=spare, gaps=gaps)
        if wanted:
            self._prefetched.add(wanted, self._round(wanted))

    def at_hand(self, wanted: FileRange) -> bytes | None:
        """The bytes of a range inside the file, when no request is needed for them; None otherwise."""
        parts: list[memoryview] = []
        place = wanted.offset
        while place < wanted.stop:
            found = self._kept(place)
            if found is None:
                return None
            parts.append(found[: wanted.stop - place])
            place += len(parts[-1])
        return b"".join(parts)

    def close(self) -> None:
        """Close the file and free what it keeps."""
        if not self.closed:
            self._blocks.clear()
            self._prefetched.clear()
        super().close()

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("the file is closed")

    def _cut(self, wanted: FileRange) -> FileRange:
        start = min(max(wanted.offset, 0), self._size)
        return FileRange(start, max(0, min(wanted.stop, self._size) - start))

    def _take_head(self, head: Buffer) -> None:
        known = FileRange(0, len(head))
        self._count([known])
        self._prefetched.add([known], [head])

    def _read_ends(self) -> None:
        """Read the head and the tail, or all of a file that is hardly larger."""
        last = -(-self._size // self._block_size)
        head = min(_HEAD_BLOCKS, last)
        tail = max(head, last - _TAIL_BLOCKS)
        runs = [(0, last)] if tail <= head + _HEAD_BLOCKS else [(0, head), (tail, last)]
        wanted = [self._run_range(first, stop) for first, stop in runs if stop > first]
        if wanted:
            for (first, _), data in zip(runs, self._round(wanted), strict=True):
                self._keep_blocks(first, data)

    def _round(self, wanted: Sequence[FileRange]) -> list[Buffer]:
        """Ask for ranges in parallel."""
        self._count(wanted)
        buffers = self._reader.read(self.source.url, wanted, source=self.source)
        for item, data in zip(wanted, buffers, strict=True):
            self._check_length(item, data)
        return buffers

    def _count(self, wanted: Sequence[FileRange]) -> None:
        self.requests += len(wanted)
        self.bytes_read += sum(item.length for item in wanted)
        self.serial_depth += 1

    def _check_length(self, wanted: FileRange, data: Buffer) -> None:
        """HDF5 takes a short read for a whole one, so that none may pass, whatever the reader."""
        if len(data) != wanted.length:
            raise ReadError(f"{without_query(self.source.url)}: {len(data)} of {wanted.length} bytes came")

    def _run_range(self, first: int, stop: int) -> FileRange:
        start = first * self._block_size
        return FileRange(start, min(stop * self._block_size, self._size) - start)

    def _from_blocks(self, place: int, count: int) -> memoryview:
        """Bytes from `place` on: from the block that holds it, or from a request for the missing run."""
        first = place // self._block_size
        block = self._blocks.get(first)
        if block is not None:
            self._blocks.move_to_end(first)
            return memoryview(block)[place - first * self._block_size :]
        stop = self._missing_until(first, (place + count - 1) // self._block_size + 1)
        wanted = self._run_range(first, stop)
        self._count([wanted])
        data = memoryview(self._read_one(self.source.url, wanted, self.source))
        self._check_length(wanted, data)
        self._next_block = stop
        self._keep_blocks(first, data)
        return data[place - wanted.offset :]

    def _missing_until(self, first: int, stop: int) -> int:
        """Where a request for blocks from `first` on ends: at `stop`, or later when reading goes on."""
        self._ahead = min(self._ahead * 2, _MAX_AHEAD_BLOCKS) if first == self._next_block else 1
        wanted = min(max(stop, first + self._ahead), first + max(1, _MAX_RUN // self._block_size))
        last = min(wanted, -(-self._size // self._block_size))
        return next((i for i in range(first + 1, last) if i in self._blocks), last)

    def _keep_blocks(self, first: int, data: Buffer) -> None:
        """Keep the blocks of a run. Copies: a view would keep the whole run alive."""
        view = memoryview(data)
        count = -(-len(view) // self._block_size)
        for i in range(max(0, count - self._max_blocks), count):
            start = i * self._block_size
            self._blocks[first + i] = bytes(view[start : start + self._block_size])
        while len(self._blocks) > self._max_blocks:
            self._blocks.popitem(last=False)

    def _kept(self, place: int) -> memoryview | None:
        """Bytes from `place` on, as far as one piece in memory has them."""
        found = self._prefetched.at(place)
        if found is None:
            block = self._blocks.get(place // self._block_size)
            found = None if block is None else memoryview(block)[place % self._block_size :]
        return found

    def _missing(self, wanted: FileRange) -> FileRange:
        """A range without what is at hand at its ends; of length 0 when all of it is."""
        start, stop, size = wanted.offset, wanted.stop, self._block_size
        while start < stop and (found := self._kept(start)) is not None:
            start += len(found)
        while start < stop:
            last = self._prefetched.start_of(stop - 1)
            if last is None and (stop - 1) // size in self._blocks:
                last = (stop - 1) // size * size
            if last is None:
                break
            stop = last
        return FileRange(start, max(0, stop - start))


def _reader_of_one(reader: RangeReader) -> Callable[[str, FileRange, Source], Buffer]:
    """How a reader reads one range on the calling thread."""
    read_one = getattr(reader, "read_one", None)
    if read_one is None:
        return lambda url, wanted, source: reader.read(url, [wanted], source=source)[0]
    return lambda url, wanted, source: read_one(url, wanted, source=source)
