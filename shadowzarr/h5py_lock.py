"""Garbage collection that does not wait for h5py's lock.

h5py frees its objects under a lock of the whole process. Objects in reference cycles are freed by whichever
thread a collection happens to run on; on the event loop of zarr, while a thread that has the lock waits for
zarr (inside ``visititems``, say), that is a dead-lock. So a collection takes the lock before it begins, and
finds nothing to free when another thread has it; what it would have freed, the next one frees.
"""

from __future__ import annotations

import gc
import sys
from typing import Any, Final

_LOCK_HOME: Final = "h5py._objects"

_held: list[Any] = []
"""The lock, while a collection of ours has it."""
_frozen: list[bool] = []
"""Something, while a collection finds nothing; there is one collection at a time."""


def collect_without_waiting() -> None:
    """Have collections in this process keep out of the way of h5py's lock; once is enough."""
    if _around_collection not in gc.callbacks:
        gc.callbacks.append(_around_collection)


def _around_collection(phase: str, _: dict[str, int]) -> None:
    if phase == "start":
        _begin()
    else:
        _end()


def _begin() -> None:
    lock = getattr(sys.modules.get(_LOCK_HOME), "phil", None)
    if lock is None:
        return
    if lock.acquire(blocking=False):
        _held.append(lock)
    else:
        gc.freeze()
        _frozen.append(True)


def _end() -> None:
    if _frozen:
        _frozen.clear()
        gc.unfreeze()
    while _held:
        _held.pop().release()
