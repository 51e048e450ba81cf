"""Values that are read once however many ask for them at the same time, recent ones kept."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future

type Read[T] = Callable[[], Awaitable[tuple[T, int]]]
"""Gives a value and its bytes."""


class SharedReads[T]:
    """A small memory of values that take long to get.

    Works for callers in any number of threads and event loops. A read that fails is told to all who
    wait for it and tried again by whoever asks next.

    Parameters
    ----------
    kept_bytes : int
        How much to keep; the least recently used values go first.
    """

    def __init__(self, kept_bytes: int) -> None:
        self._kept_bytes = kept_bytes
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._nbytes = 0
        self.after_fork()
        _instances.add(self)

    def after_fork(self) -> None:
        """Forget the reads that are under way: their threads do not exist in a forked child."""
        self._under_way: dict[Hashable, Future[tuple[T] | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._lock = threading.Lock()

    async def get(self, key: Hashable, read: Read[T]) -> T:
        """The value of a key.

        Parameters
        ----------
        key : hashable
            Names the value.
        read : callable
            Reads the value when it is not kept.
        """
        while True:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key][0]
                under_way = self._under_way.get(key)
                is_first = under_way is None
                if under_way is None:
                    under_way = self._under_way[key] = Future()
                    under_way.set_running_or_notify_cancel()  # so that nobody who waits can cancel it
            if is_first:
                # A task of its own: who asked first may give up without harm to the others, and all
                # go on in the same turn of the loop, so that what they read next is merged.
                task = asyncio.ensure_future(self._read(key, read, under_way))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            result = await asyncio.wrap_future(under_way)
            if result is not None:
                return result[0]

    async def _read(self, key: Hashable, read: Read[T], answer: Future[tuple[T] | None]) -> None:
        try:
            value, nbytes = await read()
        except Exception as error:  # noqa: BLE001 - handed to those who wait
            self._forget(key)
            answer.set_exception(error)
        except BaseException:
            self._forget(key)
            answer.set_result(None)  # this loop is ending: one of those who wait in others reads instead
            raise
        else:
            with self._lock:
                self._keep(key, value, nbytes)
                del self._under_way[key]
            answer.set_result((value,))

    def _keep(self, key: Hashable, value: T, nbytes: int) -> None:
        self._kept[key] = (value, nbytes)
        self._nbytes += nbytes
        while self._nbytes > self._kept_bytes and len(self._kept) > 1:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._nbytes -= dropped

    def _forget(self, key: Hashable) -> None:
        with self._lock:
            del self._under_way[key]


_instances: weakref.WeakSet[SharedReads[object]] = weakref.WeakSet()


def _after_fork() -> None:
    for instance in list(_instances):
        instance.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
