"""What a child process of `shadowzarr.catalog.child_pool` runs: jobs in, results out, one at a time.

Jobs come over an inherited pipe and results go back over another, so that standard output stays free
for native libraries. The process ends when its parent does: a third pipe, the life line, is written
by nobody and closed by the parent's end, however that comes about.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import importlib
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from ..errors import ForeignJobError
from .child_messages import receive, send

CHILD_READY, JOB_PROGRESS, JOB_RESULT, JOB_ERROR = "ready", "progress", "result", "error"

Job = tuple[str, tuple[Any, ...], bool]
"""Function as ``module:name``, its arguments, and whether it is to report progress."""


def main(arguments: Sequence[str]) -> None:
    """Serve jobs until the pipe of jobs closes; arguments are three descriptors, then modules."""
    job_fd, result_fd, life_line = (int(number) for number in arguments[:3])
    end_with_parent(life_line)
    faulthandler.enable()
    with os.fdopen(job_fd, "rb") as jobs, os.fdopen(result_fd, "wb") as results:
        serve(jobs, results, preload=arguments[3:])


def serve(jobs: BinaryIO, results: BinaryIO, *, preload: Sequence[str] = ()) -> None:
    """Take jobs from one stream and write what comes of them to another."""
    for module in preload:
        importlib.import_module(module)
    send(results, (CHILD_READY, None))
    while True:
        try:
            job: Job = receive(jobs)
        except EOFError:
            return
        send(results, _run(job, results))


def find_function(name: str) -> Callable[..., Any]:
    """Find a function by ``module:name``."""
    module, _, attribute = name.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return function


def portable(error: Exception) -> Exception:
    """Return the exception if it survives pickling, else one that says the same."""
    with contextlib.suppress(Exception):
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (just written)
        if type(copy) is type(error) and str(copy) == str(error):
            return error
    substitute = ForeignJobError(f"{type(error).__name__}: {error}")
    substitute.transient = bool(getattr(error, "transient", False))
    return substitute


def _run(job: Job, results: BinaryIO) -> tuple[str, Any]:
    name, arguments, wants_progress = job
    try:
        function = find_function(name)
        if not wants_progress:
            return JOB_RESULT, function(*arguments)
        return JOB_RESULT, function(*arguments, progress=lambda news: send(results, (JOB_PROGRESS, news)))
    except Exception as error:  # noqa: BLE001 (whatever a job raises belongs to the parent)
        return JOB_ERROR, portable(error)


def end_with_parent(life_line: int) -> None:
    """Die when the life line closes, even while native code holds the interpreter.

    Parameters
    ----------
    life_line : int
        Descriptor of the reading end of a pipe whose other end the parent alone has.
    """
    if hasattr(fcntl, "F_SETSIG"):  # Linux: the kernel kills, no thread of ours has to run
        fcntl.fcntl(life_line, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(life_line, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(life_line, fcntl.F_SETFL, fcntl.fcntl(life_line, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([life_line], [], [], 0)[0]:
        os._exit(0)  # the parent was gone before we asked to be told
    threading.Thread(target=_wait_for_end, args=(life_line,), daemon=True).start()


def _wait_for_end(life_line: int) -> None:
    with contextlib.suppress(OSError):
        os.read(life_line, 1)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
