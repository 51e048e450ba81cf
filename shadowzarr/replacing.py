"""Files that are replaced whole, and folders that one writer at a time changes.

Locks are those of open files (``flock``), which die with their process. Where a file system or an operating
system has none, writers do not wait for each other; a file is replaced by one rename all the same.

Folders are replaced by exchanging two names. Where that cannot be, there is a moment without one.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import hashlib
import os
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

EARLIER = ".earlier"
_HERE, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""


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
    with replaced(target, renaming=renaming) as temporary:
        temporary.write_bytes(data)


@contextlib.contextmanager
def replaced(target: Path, *, renaming: Callable[[Path], object] | None = None) -> Iterator[Path]:
    """Have a file written under a temporary name, bring it to the disk, and rename it to its place.

    Parameters
    ----------
    target, renaming
        As for `replace_file`.

    Yields
    ------
    Path
        An empty file, which whoever writes opens and closes by this name. An error takes it away.
    """
    temporary, descriptor = _open_temporary(target)
    try:
        os.ftruncate(descriptor, 0)
        yield temporary
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


def bring_to_disk(path: Path) -> None:
    """Bring a file, or a folder with all that is in it, to the disk, so that no power failure takes it.

    To be called before what names it is renamed to its place: a disk may know new names before new content.

    Parameters
    ----------
    path : Path
        Must be there. Symbolic links are not followed below it.
    """
    for folder, _, names in os.walk(path):
        for name in names:
            _bring_one(Path(folder, name))
        bring_names_to_disk(Path(folder))
    if not path.is_dir():
        _bring_one(path)


def bring_names_to_disk(folder: Path) -> None:
    """Bring to the disk which names a folder holds, and not what they stand for."""
    if sys.platform != "win32":  # which opens no folders
        _bring_one(folder)


def _bring_one(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        if error.errno == errno.ELOOP:  # a symbolic link is a name and nothing else
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # there are file systems that cannot
            raise
    finally:
        os.close(descriptor)


def replace_whole(made: Path, target: Path) -> None:
    """Give a file or a folder its name, in place of the one that has it.

    On Linux whoever opens the name finds one of both at any moment, unless the file system cannot exchange
    names, as NFS; there a folder is away for the moment between two renames.

    Parameters
    ----------
    made : Path
        It, on the same file system. What was there lies then at its place, or beside it with `EARLIER`
        behind its name; somebody clears both.
    target : Path
        Its name; the folder of that must be there.
    """
    is_file = not target.is_dir() and not made.is_dir()  # for which one rename does it
    if is_file or not os.path.lexists(target):
        made.replace(target)
    elif not _exchange(made, target):
        earlier = made.with_name(made.name + EARLIER)
        target.rename(earlier)
        try:
            made.replace(target)
        except OSError:
            earlier.rename(target)
            raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names at once; False where that cannot be done."""
    rename = _renameat2()
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@functools.cache
def _renameat2() -> Callable[..., int] | None:
    """Linux' function that exchanges names, which Python does not have."""
    if sys.platform != "linux":
        return None
    function: Any = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        path, folder = ctypes.c_char_p, ctypes.c_int
        function.argtypes = [folder, path, folder, path, ctypes.c_uint]
    found: Callable[..., int] | None = function
    return found


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
