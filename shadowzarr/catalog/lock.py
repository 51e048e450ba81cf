"""One run at a time in an output folder; a lock that dies with its process."""

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
def output_lock(path: Path, *, output: str = "") -> Iterator[None]:
    """Hold the lock of an output folder.

    Parameters
    ----------
    path : Path
        The lock's file; made when missing, and empty while nobody holds it.
    output : str, optional
        What messages call the output; the folder of the lock's folder by default.

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
        _take(descriptor, output or str(path.parent.parent))
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


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


def _take(descriptor: int, output: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 200, 0).decode(errors="replace") or "another process"
        raise OutputBusyError(
            f"another run ({holder}) is writing to {output}; wait for it, or choose another one"
        ) from None
