"""Units that are not complete yet: their parts in memory, or one after the other in a scratch file."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...errors import OutputError
from ...formatting import format_bytes

Values = np.ndarray[Any, Any]
Box = tuple[slice, ...]


class OpenUnit(Protocol):
    """A unit whose parts come one by one, from several threads."""

    def put(self, box: Box, values: Values) -> None:
        """Add a part; boxes are relative to the unit and do not overlap."""

    def whole(self) -> Values:
        """All of it, once all parts are there; nothing is kept."""


NewUnit = Callable[[tuple[int, ...]], OpenUnit]
"""Shape → a unit of fill values."""


class InMemory:
    """A unit in memory.

    Parameters
    ----------
    shape : tuple of int
        Of the unit.
    fill : numpy.ndarray
        A single element: the value where no part comes.
    """

    def __init__(self, shape: tuple[int, ...], fill: Values) -> None:
        self._values = np.full(shape, fill, fill.dtype)

    def put(self, box: Box, values: Values) -> None:
        """Add a part."""
        self._values[box] = values

    def whole(self) -> Values:
        """All of it."""
        return self._values


class ScratchFile:
    """Room for units on disk: slots of one size, used again when a unit is complete.

    Parameters
    ----------
    file : file object
        Nameless, so that it goes when its process ends, however that ends.
    folder : Path
        What messages call it.
    slot : int
        Bytes of a unit.
    """

    def __init__(self, descriptor: int, folder: Path, slot: int) -> None:
        self._descriptor = descriptor
        self._folder = folder
        self._slot = slot
        self._free: list[int] = []
        self._count = 0
        self._lock = threading.Lock()

    def take(self) -> int:
        """Offset of a slot that is free."""
        with self._lock:
            if self._free:
                return self._free.pop()
            self._count += 1
            return (self._count - 1) * self._slot

    def give_back(self, offset: int) -> None:
        """Let a slot be used again."""
        with self._lock:
            self._free.append(offset)

    def write(self, data: memoryview, offset: int) -> None:
        """Write a part.

        Raises
        ------
        OutputError
            When the disk is full, or cannot be written.
        """
        try:
            while data:
                done = os.pwrite(self._descriptor, data, offset)
                data, offset = data[done:], offset + done
        except OSError as error:
            raise OutputError(
                f"cannot write to the scratch file in {self._folder}: {error.strerror or error}"
            ) from error

    def read(self, buffer: memoryview, offset: int) -> None:
        """Read a part.

        Raises
        ------
        OutputError
            When it cannot be read.
        """
        try:
            while buffer:
                done = os.preadv(self._descriptor, [buffer], offset)
                if not done:
                    raise OutputError(f"the scratch file in {self._folder} was cut while it was in use")
                buffer, offset = buffer[done:], offset + done
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise OutputError(
                f"cannot read the scratch file in {self._folder}: {error.strerror or error}"
            ) from error


@contextlib.contextmanager
def scratch_file(folder: Path, slot: int, most: int) -> Iterator[ScratchFile]:
    """Make a scratch file.

    Parameters
    ----------
    folder : Path
        Where; it has to be there.
    slot : int
        Bytes of a unit.
    most : int
        Bytes that may be needed.

    Raises
    ------
    OutputError
        When it cannot be made, or there is no room.
    """
    try:
        room = os.statvfs(folder)
        free = room.f_bavail * room.f_frsize
        if free < most:
            raise OutputError(
                f"up to {format_bytes(most)} are needed for a while in {folder}, where {format_bytes(free)} "
                "are free; give another folder (scratch, --scratch) or more memory (max_memory, --max-memory)"
            )
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            yield ScratchFile(file.fileno(), folder, slot)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"no scratch file can be made in {folder}: {error.strerror or error}") from error


@dataclass
class InScratch:
    """A unit in a scratch file: its parts in the order in which they came.

    Attributes
    ----------
    shape : tuple of int
        Of the unit.
    fill : numpy.ndarray
        A single element: the value where no part comes.
    file : ScratchFile
        Where the parts are.
    """

    shape: tuple[int, ...]
    fill: Values
    file: ScratchFile
    _parts: list[tuple[Box, int]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _used: int = 0

    def __post_init__(self) -> None:
        self._offset = self.file.take()

    def put(self, box: Box, values: Values) -> None:
        """Add a part."""
        nbytes = values.size * self.fill.itemsize
        with self._lock:
            offset = self._offset + self._used
            self._used += nbytes
            self._parts.append((box, offset))
        self.file.write(memoryview(np.ascontiguousarray(values).reshape(-1).view(np.uint8)), offset)

    def whole(self) -> Values:
        """All of it; its room is free again."""
        found = np.full(self.shape, self.fill, self.fill.dtype)
        for box, offset in self._parts:
            shape = tuple(part.stop - part.start for part in box)
            part = np.empty(math.prod(shape), self.fill.dtype)
            self.file.read(memoryview(part.view(np.uint8)), offset)
            found[box] = part.reshape(shape)
        self.file.give_back(self._offset)
        return found
