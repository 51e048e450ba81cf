"""Files of the benchmark server: identity, and bytes by memory map, so that sending copies nothing."""

from __future__ import annotations

import mmap
from pathlib import Path

from shadowzarr.testing.object_responses import StoredObject


class StoredFiles:
    """The files below a folder; each is looked up at every request and mapped once per state."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._maps: dict[tuple[Path, int, int], memoryview] = {}

    def find(self, name: str) -> StoredObject | None:
        """Describe a file; the ETag is made of size and time of change, so that nothing is read for it."""
        if "\0" in name or ".." in name.split("/"):
            return None
        path = self._folder / name
        if not path.is_file():
            return None
        stat = path.stat()
        return StoredObject(path, stat.st_size, f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"', stat.st_mtime)

    def read(self, path: Path, offset: int, length: int) -> memoryview:
        """Bytes of a file."""
        if not length:
            return memoryview(b"")
        stat = path.stat()
        key = (path, stat.st_size, stat.st_mtime_ns)
        if key not in self._maps:
            with path.open("rb") as file:
                self._maps[key] = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return self._maps[key][offset : offset + length]
