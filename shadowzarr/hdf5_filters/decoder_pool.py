"""Chunks decoded by HDF5 in processes of their own, which may crash, hang or grow without harm.

HDF5 in the reader's own process would need h5py's lock, and zarr decodes on other threads than the one that
reads: a reader that holds the lock (inside ``visititems``, say) would wait for a thread that waits for it.
So nothing here touches h5py. Why, and what it costs: docs/design/002-hdf5-filters-in-a-process.md.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from ..errors import ChildCrashedError, ChildFailedError, ChildTimedOutError, DamagedSourceError
from .decoder_messages import CHUNK, DECODE, ENCODE, ERRORS, FAILED, Request
from .decoder_process import DecoderProcess, LostError
from .names import Filters, filter_name

SECONDS = 60.0
"""Time for a chunk; a second is added per MiB. The slowest filters need 0.2 s for one."""
MOST_PROCESSES = 4
_DAMAGED = FAILED + ERRORS.index(DamagedSourceError)


def decode(filters: Filters, data: Any, nbytes: int) -> memoryview:
    """Undo filters, as `pipeline.decode_chunk` does, in another process.

    Parameters
    ----------
    filters : tuple of (int, tuple of int)
        Numbers and client data values, in the order in which they were applied.
    data : bytes-like
        The stored chunk.
    nbytes : int
        Bytes that it has to decode to.

    Raises
    ------
    ShadowzarrError
        Those of `pipeline.decode_chunk`, and those of a process that could not be started or was lost.
    """
    return _pool.run(Request(DECODE, filters, nbytes, memoryview(data).cast("B")))


def encode(filters: Filters, data: Any) -> memoryview:
    """Apply filters, as `pipeline.encode_chunk` does, in another process.

    Parameters
    ----------
    filters : tuple of (int, tuple of int)
        Numbers and client data values, in the order in which they are to be applied.
    data : bytes-like
        A whole chunk.

    Raises
    ------
    ShadowzarrError
        Those of `pipeline.encode_chunk`, and those of a process that could not be started or was lost.
    """
    view = memoryview(data).cast("B")
    return _pool.run(Request(ENCODE, filters, len(view), view))


class DecoderPool:
    """Decoder processes, started when they are needed; as many chunks at a time as there are.

    Parameters
    ----------
    size : int
        The most processes.
    seconds : float
        Time for a chunk, to which a second is added per MiB.
    """

    def __init__(self, size: int, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._places = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[DecoderProcess] = []
        self._all: set[DecoderProcess] = set()

    def run(self, request: Request) -> memoryview:
        """Have a request answered, from any thread.

        A process that has seen chunks before and ends at this one may have been damaged by them: the chunk
        gets a second try in a new one.
        """
        with self._places:
            try:
                kind, content = self._answer(request, self._take())
            except LostError as error:
                raise _given_up(request, error) from None
        if kind == CHUNK:
            return content
        raise ERRORS[kind - FAILED](bytes(content).decode(errors="replace"))

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._idle.clear()
            for process in self._all:
                process.close()
            self._all.clear()

    def forget(self) -> None:
        """Let go of all processes, in a forked child: they are the parent's."""
        for process in self._all:
            process.forget()

    def _answer(self, request: Request, process: DecoderProcess) -> tuple[int, memoryview]:
        was_used, answer = process.is_used, None
        try:
            answer = process.run(request)
        except LostError as error:
            if error.by_timer or not was_used:
                raise
        finally:
            self._put_back(process, is_well=answer is not None and answer[0] != _DAMAGED)
        return answer if answer is not None else self._answer(request, self._start())

    def _take(self) -> DecoderProcess:
        while True:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is None:
                return self._start()
            if process.is_alive():
                return process
            self._put_back(process, is_well=False)

    def _start(self) -> DecoderProcess:
        process = DecoderProcess(self._seconds)
        with self._lock:
            self._all.add(process)
        return process

    def _put_back(self, process: DecoderProcess, *, is_well: bool) -> None:
        """Keep a process for the next chunk; not one that a damaged chunk may have damaged."""
        with self._lock:
            if is_well:
                self._idle.append(process)
                return
            self._all.discard(process)
        process.close()


def _given_up(request: Request, error: LostError) -> ChildFailedError:
    names = ", ".join(filter_name(number) for number, _ in request.filters)
    chunk = f"a chunk of {len(request.data):,} bytes behind the filters {names}"
    if error.by_timer:
        return ChildTimedOutError(f"HDF5 took too long over {chunk}: it is damaged, or the machine very busy")
    return ChildCrashedError(f"HDF5 crashed ({error}) on {chunk}: it is damaged, or the filters' values are")


def _new_pool() -> DecoderPool:
    return DecoderPool(min(os.cpu_count() or 1, MOST_PROCESSES))


def _after_fork() -> None:
    """A forked child has no part in its parent's processes; it must not keep their pipes open either."""
    global _pool
    _pool.forget()
    _pool = _new_pool()


_pool = _new_pool()
atexit.register(lambda: _pool.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
