"""A bounded number of things under way at once, and the outcome of each as it ends."""

from __future__ import annotations

import queue
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Protocol, Self


class Runner[T, R](Protocol):
    """Runs something somewhere, and says what came of it."""

    def submit(self, item: T, ended: Callable[[R], None]) -> None:
        """Begin with one thing; ``ended`` is called from any thread, and always."""


def run_in_window[T, R](items: Iterable[T], runner: Runner[T, R], *, window: int) -> Generator[R]:
    """Run things, so many at once, and give the outcome of each as it ends."""
    ended: queue.SimpleQueue[R] = queue.SimpleQueue()
    waiting, in_flight = iter(items), 0
    while True:
        while in_flight < window and (following := next(waiting, None)) is not None:
            runner.submit(following, ended.put)
            in_flight += 1
        if not in_flight:
            return
        yield ended.get()
        in_flight -= 1


class ThreadRunner[T, R]:
    """Runs a function in threads of this process, without an orchestrator.

    Parameters
    ----------
    function : callable
        Gives the outcome.
    failed : callable
        Gives the outcome of an error.
    threads : int
        How many run at once.
    """

    def __init__(
        self, function: Callable[[T], R], failed: Callable[[T, BaseException], R], *, threads: int
    ) -> None:
        self._function = function
        self._failed = failed
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="asset")

    def submit(self, item: T, ended: Callable[[R], None]) -> None:
        """Begin with one thing; see `Runner`."""

        def tell(done: Future[R]) -> None:
            error = done.exception()
            ended(done.result() if error is None else self._failed(item, error))

        self._executor.submit(self._function, item).add_done_callback(tell)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)
