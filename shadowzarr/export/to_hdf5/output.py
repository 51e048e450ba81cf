"""The new file as HDF5 writes it: a write that fails is remembered, and HDF5 is never told.

HDF5 2.0 cannot close a file whose last writes fail, on a full disk say, and crashes when the process ends. So
what cannot be written any more is kept in memory until the file is closed; whoever writes asks now and then
whether anything failed, and stops.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from ...errors import OutputError


class Output(io.RawIOBase):
    """A new file for h5py.

    Parameters
    ----------
    path : pathlib.Path
        Is there, and empty.
    target : pathlib.Path
        What messages call it.
    """

    def __init__(self, path: Path, target: Path) -> None:
        self._target = target
        self._file = path.open("r+b", buffering=0)
        self._error: OSError | None = None
        self._kept: list[tuple[int, bytes]] = []

    def check(self) -> None:
        """Raise what failed.

        Raises
        ------
        OutputError
            When something could not be written.
        """
        if self._error is not None:
            reason = self._error.strerror or str(self._error)
            raise OutputError(f"cannot write {self._target}: {reason}") from self._error

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Where it is."""
        return self._file.tell()

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Read what was written, also what is kept."""
        start = self._file.tell()
        count = self._file.readinto(buffer)
        buffer[count:] = bytes(len(buffer) - count)
        for offset, data in self._kept:
            first, last = max(start, offset), min(start + len(buffer), offset + len(data))
            if first < last:
                buffer[first - start : last - start] = data[first - offset : last - offset]
        return len(buffer)

    def write(self, data: memoryview, /) -> int:  # type: ignore[override]
        """Write all, or keep it."""
        view = memoryview(data).cast("B")
        start = self._file.tell()
        try:
            done = 0
            while self._error is None and done < len(view):
                done += self._file.write(view[done:])
        except OSError as error:
            self._error = error
        if self._error is not None:
            self._kept.append((start, bytes(view)))
            self._file.seek(start + len(view))
        return len(view)

    def truncate(self, size: int | None = None, /) -> int:
        """Cut or extend the file."""
        size = self._file.tell() if size is None else size
        try:
            return self._file.truncate(size) if self._error is None else size
        except OSError as error:
            self._error = error
            return size

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """Close the file, if it could be opened."""
        with contextlib.suppress(AttributeError):  # also called for what `__init__` did not finish
            self._file.close()
        super().close()
