"""What a decoder process runs: chunks in over standard input, decoded ones out, one at a time.

It ends when its standard input does, which is when the reader's process has ended, however that came about.
For each chunk it has so much time and memory, which the system keeps it to: native code that never returns
is killed by a timer, and what HDF5 and its plug-ins allocate fails above a limit of the address space.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ..errors import ShadowzarrError
from .decoder_messages import (
    CHUNK,
    ENCODE,
    ERRORS,
    FAILED,
    READY,
    EndedError,
    Request,
    read_request,
    write_answer,
)
from .pipeline import decode_chunk, encode_chunk

SPARE_BYTES: Final = 2**29
"""Address space beyond the chunk's own: plug-ins, their threads, the files in memory that are kept."""
COPIES: Final = 16
"""Times that a chunk may be in memory: stored, in HDF5's file, before and after a filter, within a filter."""

Write = Callable[[memoryview], int | None]


def main() -> None:
    """Serve chunks until standard input ends; the argument is the seconds for one, and one more per MiB."""
    seconds = float(sys.argv[1])
    requests = open(os.dup(0), "rb", buffering=0)  # noqa: SIM115, PTH123 (open as long as the process lives)
    answers = open(os.dup(1), "wb", buffering=0)  # noqa: SIM115, PTH123
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the reader's process decides what an interrupt means
    _silence_libraries()
    limit_memory = memory_limiter()
    write_answer(answers.write, READY, memoryview(b""))
    while True:
        try:
            request = read_request(requests.readinto)
        except EndedError:
            return
        limit_memory(request.nbytes + len(request.data))
        set_timer(seconds + request.nbytes / 2**20)
        kind, content = answer(request)
        set_timer(0)
        write_answer(answers.write, kind, content)


def answer(request: Request) -> tuple[int, memoryview]:
    """Do what a request asks for: the kind of answer, and its content."""
    try:
        if request.operation == ENCODE:
            return CHUNK, memoryview(encode_chunk(request.filters, request.data))
        return CHUNK, memoryview(decode_chunk(request.filters, request.data, request.nbytes))
    except ShadowzarrError as error:
        number = next(number for number, kind in enumerate(ERRORS) if isinstance(error, kind))
        return FAILED + number, memoryview(str(error).encode(errors="replace"))
    except MemoryError:
        return FAILED, memoryview(b"a stored chunk takes more memory than one of its size may")


def set_timer(seconds: float) -> None:
    """Have the system kill this process after so many seconds; 0 calls it off. Not on Windows."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def memory_limiter() -> Callable[[int], None]:
    """Return a function that limits the address space for chunks of so many bytes, stored and decoded.

    Linux only: elsewhere there is no such limit, or nothing keeps to it.
    """
    if sys.platform != "linux":
        return lambda _: None
    import resource

    own = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    most = resource.getrlimit(resource.RLIMIT_AS)[1]

    def limit(nbytes: int) -> None:
        wanted = own + SPARE_BYTES + COPIES * nbytes
        resource.setrlimit(
            resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most)
        )

    return limit


def _silence_libraries() -> None:
    """Keep what libraries print, or read, away from the pipes of the messages."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
