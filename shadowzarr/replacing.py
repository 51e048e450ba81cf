"""Files that are replaced whole, and folders that one writer at a time changes.

Locks are those of open files (``flock``), which die with their process. Where a file system or an operating
system has none, writers do not wait for each other; a file is replaced by one rename all the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def held_folder(folder: Path) -> Iterator[bool]:
    """Keep other writers of a folder waiting, inside.

    Parameters
    ----------
    folder : Path
        Must be there.

    Yields
    ------
    bool
        Whether the folder is still there: another writer may have taken it away before it let go.
    """
    if sys.platform == "win32":
        yield True
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(descriptor)
        yield _is_at(descriptor, folder)
    finally:
        _let_go(descriptor)


def replace_file(target: Path, data: bytes, *, renaming: Callable[[Path], object] | None = None) -> None:
    """Write a file under a temporary name, bring it to the disk, and rename it to its place.

    The temporary name belongs to the target: what a killed writer left there is used by the next one, and
    of two writers one waits.

    Parameters
    ----------
    target : Path
        The file; its folder must be there.
    data : bytes
        All of it.
    renaming : callable, optional
        Called with the temporary name just before it is renamed.
    """
    temporary, descriptor = _open_temporary(target)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.truncate(0)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if renaming is not None:
            renaming(temporary)
        temporary.replace(target)
    except BaseException:
        # Never after the renaming: the name is then free, and may be the next writer's already.
        temporary.unlink(missing_ok=True)
        raise
    finally:
        _let_go(descriptor)


def _open_temporary(target: Path) -> tuple[Path, int]:
    """Open the file that is to take the place of another, and lock it."""
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:32]
    own, unique = (target.with_name(f".{each}.tmp") for each in (digest, uuid.uuid4().hex))
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    while True:
        try:
            descriptor = os.open(own, flags, 0o666)
        except PermissionError:  # somebody else's process left it; or else the next line says it
            return unique, os.open(unique, flags | os.O_EXCL, 0o666)
        if not _lock(descriptor):
            os.close(descriptor)
            with contextlib.suppress(OSError):
                own.unlink()
            return unique, os.open(unique, flags | os.O_EXCL, 0o666)
        if _is_at(descriptor, own):
            return own, descriptor
        _let_go(descriptor)  # the writer that it waited for has renamed it


def _lock(descriptor: int) -> bool:
    """Wait for a lock; False where there are none."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def _let_go(descriptor: int) -> None:
    """Close a descriptor, and its lock also where a child that was forked meanwhile has a copy of it."""
    try:
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
