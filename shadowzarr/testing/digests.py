"""Digests of files: the archive's ``dandi:dandi-etag`` and a memory of what has been digested.

The rule is that of a multipart upload whose parts are cut at fixed places, so the digest equals the
ETag that S3 gives the object.
"""

from __future__ import annotations

import errno
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from ..refs.byte_range import FileRange

PART_SIZE = 64 * 2**20
MAX_PARTS = 10_000
_BLOCK = 2**20


def part_ranges(size: int) -> list[FileRange]:
    """Cut an object into the parts of its upload.

    Parameters
    ----------
    size : int
        Bytes of the object, at least 1.
    """
    part = PART_SIZE
    if -(-size // part) >= MAX_PARTS:
        part = -(-size // MAX_PARTS)
    return [FileRange(start, min(part, size - start)) for start in range(0, size, part)]


def dandi_etag(path: Path) -> str:
    """Compute the ``dandi:dandi-etag`` of a file, without quotes.

    Parts that are holes of a sparse file are not read.

    Raises
    ------
    ValueError
        When the file is empty: such a file cannot be uploaded and has none.
    """
    size = path.stat().st_size
    if not size:
        raise ValueError(f"{path.name} is empty, and an empty file has no dandi-etag")
    ranges = part_ranges(size)
    whole = hashlib.md5(usedforsecurity=False)
    with path.open("rb", buffering=0) as file:
        for part in ranges:
            whole.update(_zeros(part.length) if _is_hole(file.fileno(), part) else _md5(file.fileno(), part))
    return f"{whole.hexdigest()}-{len(ranges)}"


def md5(path: Path) -> str:
    """Compute the plain MD5 of a file, in hex: the ETag of an object that was uploaded in one go."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def sha256(path: Path) -> str:
    """Compute the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FileMemo[T]:
    """Remembers a fact about each file for as long as the file is not changed.

    Parameters
    ----------
    compute : callable
        Gives the fact about a path. Called once per state of a file, also when several threads ask.
    """

    def __init__(self, compute: Callable[[Path], T]) -> None:
        self._compute = compute
        self._known: dict[Path, tuple[tuple[int, ...], T]] = {}
        self._locks: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()

    def __call__(self, path: Path) -> T:
        """Give the fact, computing it if the file is new or changed."""
        with self._lock:
            lock = self._locks.setdefault(path, threading.Lock())
        with lock:
            state = _state(path)
            known = self._known.get(path)
            if known is None or known[0] != state:
                known = self._known[path] = (state, self._compute(path))
            return known[1]


def _state(path: Path) -> tuple[int, ...]:
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _md5(descriptor: int, part: FileRange) -> bytes:
    digest = hashlib.md5(usedforsecurity=False)
    for block in _blocks(descriptor, part):
        digest.update(block)
    return digest.digest()


def _blocks(descriptor: int, part: FileRange) -> Iterator[bytes]:
    os.lseek(descriptor, part.offset, os.SEEK_SET)
    remaining = part.length
    while remaining:
        block = os.read(descriptor, min(_BLOCK, remaining))
        if not block:
            raise OSError("the file became shorter while it was digested")
        remaining -= len(block)
        yield block


@lru_cache(maxsize=4)
def _zeros(length: int) -> bytes:
    digest = hashlib.md5(usedforsecurity=False)
    for start in range(0, length, _BLOCK):
        digest.update(bytes(min(_BLOCK, length - start)))
    return digest.digest()


def _is_hole(descriptor: int, part: FileRange) -> bool:
    if not hasattr(os, "SEEK_DATA"):
        return False
    try:
        return os.lseek(descriptor, part.offset, os.SEEK_DATA) >= part.stop
    except OSError as error:
        # ENXIO: no data from here to the end. Anything else: the file system cannot tell.
        return error.errno == errno.ENXIO
