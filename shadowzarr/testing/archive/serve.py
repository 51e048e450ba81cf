"""Serving a folder as an archive from the command line, until the user stops it."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ...errors import UsageError
from ...formatting import format_count
from .folder import FolderArchive
from .server import ArchiveServer
from .signing import DEFAULT_LIFETIME


def serve_folder(
    folder: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    api_port: int = 0,
    store_port: int = 0,
    lifetime: float = DEFAULT_LIFETIME,
    announce: Callable[[str], object] = print,
    stop: threading.Event | None = None,
) -> None:
    """Serve a folder until Ctrl-C, SIGTERM or `stop`, and return.

    Parameters
    ----------
    folder : path
        Holds one subfolder per dandiset, named by six digits.
    host : str
        Address to listen on.
    api_port, store_port : int
        0 for a free one.
    lifetime : float
        Seconds for which a presigned URL is good.
    announce : callable
        Is given the lines that tell where the archive is and how to use it.
    stop : threading.Event, optional
        Ends the serving from another thread.

    Raises
    ------
    UsageError
        When the folder is missing, holds no dandiset or has a wrong ``archive.json``, or when a port
        is in use.
    """
    archive = FolderArchive(folder)
    server = ArchiveServer(archive, host=host, api_port=api_port, store_port=store_port, lifetime=lifetime)
    server.api.on_error = server.store.on_error = _tell_fault
    try:
        server.start()
    except OSError as error:
        raise UsageError(_cannot_listen(error)) from None
    try:
        with _interrupted_by_sigterm():
            announce(announcement(server, archive))
            (stop or threading.Event()).wait()
    except KeyboardInterrupt:
        pass  # this is how it is stopped
    finally:
        with suppress(RuntimeError):  # faults, each of which was told when it happened
            server.close()


def _tell_fault(fault: str) -> None:
    sys.stderr.write(f"the server failed on a request:\n{fault}")
    sys.stderr.flush()


def _cannot_listen(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        advice = "stop the program that listens there, or choose other ports (0 takes a free one)"
    else:
        advice = "choose other ports (0 takes a free one)"
    return f"cannot listen on {error.strerror}; {advice}"


def announcement(server: ArchiveServer, archive: FolderArchive) -> str:
    """Say what is served where, with a configuration that indexes it."""
    dandisets = sorted(archive.dandisets.values(), key=lambda dandiset: dandiset.identifier)
    assets = sum(len(dandiset.draft.assets) for dandiset in dandisets)
    counts = f"{format_count(len(dandisets), 'dandiset')}, {format_count(assets, 'asset')}"
    lines = [
        f"Archive of {archive.folder}: {counts}",
        *(f"  left out {path}: {reason}" for path, reason in archive.left_out.items()),
        "",
        f"API:          {server.api_url}",
        f"Object store: {server.store_url}",
        "",
        "To index it, write this to archive.yaml and run: python -m flows run archive.yaml",
        "",
        "flow: index_dandisets",
        f"archive: {server.api_url}",
        "dandisets:",
        *(f'  - id: "{dandiset.identifier}"' for dandiset in dandisets),
        "output: ./references",
        "",
        "Ctrl-C stops it.",
    ]
    return "\n".join(lines)


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, by which containers are stopped, end the program as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
