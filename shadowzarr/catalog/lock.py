"""Locks of an output folder, which die with their processes: one run at a time, or one and its parts."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from ..errors import OutputBusyError, OutputError


@contextlib.contextmanager
def output_lock(path: Path, *, output: str = "", is_shared: bool = False) -> Iterator[None]:
    """Hold the lock of an output folder.

    Parameters
    ----------
    path : Path
        The lock's file; made when missing, and empty while nobody holds it.
    output : str, optional
        What messages call the output; the folder of the lock's folder by default.
    is_shared : bool
        Whether others may hold it that share it too; nobody's name stands in it then.

    Raises
    ------
    OutputBusyError
        When another process holds it.
    OutputError
        When it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise OutputError(f"cannot write to the output {path.parent}: {error.strerror or error}") from error
    try:
        _take(descriptor, output or str(path.parent.parent), is_shared=is_shared)
        if is_shared:
            yield
            return
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Tell whether a process holds a lock; one that takes it just now may be refused by this once."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def check_output(path: Path) -> None:
    """Refuse an output that could not be locked, without writing anything.

    Parameters
    ----------
    path : Path
        The lock's file, which need not exist.

    Raises
    ------
    OutputError
        When it could not be made or written.
    """
    there = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if there == path:
        reason = 0 if os.access(path, os.W_OK) else errno.EACCES
    elif not there.is_dir():
        reason = errno.ENOTDIR
    else:
        reason = 0 if os.access(there, os.W_OK | os.X_OK) else errno.EACCES
    if reason:
        raise OutputError(f"cannot write to the output {path.parent}: {os.strerror(reason)} ({there})")


def _take(descriptor: int, output: str, *, is_shared: bool) -> None:
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 200, 0).decode(errors="replace") or "another process"
        raise OutputBusyError(
            f"another run ({holder}) is writing to {output}; wait for it, or choose another one"
        ) from None
