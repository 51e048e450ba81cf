"""What a walk asks for and is given: the bytes of nodes, a level at a time.

A walk is a generator: it yields the groups of nodes that it wants next, is sent their bytes, and returns what
it found. So whoever drives it decides how bytes are read, and may drive many walks in lock step.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....refs.byte_range import FileRange
from .layout import FieldSizes
from .refusal import sound

Bytes2D = npt.NDArray[np.uint8]
"""Bytes of the nodes of a group: a row per node."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeGroup:
    """Nodes of equal length that are wanted at once.

    Attributes
    ----------
    offsets : numpy.ndarray
        int64: where each begins, from the start of the file.
    length : int
        Bytes of each.
    """

    offsets: npt.NDArray[np.int64]
    length: int

    def ranges(self) -> list[FileRange]:
        """The group as ranges of the file."""
        return [FileRange(offset, self.length) for offset in self.offsets.tolist()]

    def joined(self, buffers: Sequence[bytes | memoryview]) -> Bytes2D:
        """The bytes of `ranges`, as a walk wants them."""
        return np.frombuffer(b"".join(buffers), np.uint8).reshape(len(self.offsets), self.length)


type Walk[Found] = Generator[list[NodeGroup], list[Bytes2D], Found]
"""Yields what it wants next, is sent an array per group, returns what it found."""


def drive[Found](walk: Walk[Found], read: Callable[[list[NodeGroup]], list[Bytes2D]]) -> Found:
    """Walk to the end.

    Parameters
    ----------
    walk : generator
        As `walk_index` gives it.
    read : callable
        Gives the bytes of each group; called once per level.
    """
    try:
        wanted = next(walk)
        while True:
            wanted = walk.send(read(wanted))
    except StopIteration as ended:
        found: Found = ended.value
        return found


class AddressSpace:
    """The file, in which nodes are claimed before they are read.

    All nodes of an index together are no more than the file. So whatever a damaged index says, a walk ends
    and takes no more memory than the file has bytes.

    Parameters
    ----------
    sizes : FieldSizes
        From the superblock.
    file_size : int
        Bytes of the file.
    """

    def __init__(self, sizes: FieldSizes, file_size: int) -> None:
        self._base, self._file_size = sizes.base_address, file_size
        self._claimed = 0

    def group(self, addresses: npt.NDArray[np.uint64] | int, length: int) -> NodeGroup:
        """Nodes at addresses that are relative to the base address; often one.

        Raises
        ------
        DamagedIndexError
            When one is outside the file, or there are too many.
        """
        if isinstance(addresses, int):
            sound(addresses < 2**63, "a node outside the file")
            addresses = np.array([addresses], np.uint64)
        count = len(addresses)
        self._claimed += count * length
        sound(self._claimed <= self._file_size, "an index larger than the file")
        end = int(addresses.max()) + length if count else 0
        sound(length > 0 and end <= self._file_size - self._base, "a node outside the file")
        return NodeGroup(addresses.astype(np.int64) + self._base, length)
