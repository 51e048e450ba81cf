"""How many requests for bytes of remote files a piece of work made, whichever part of it made them.

Counted are requests for ranges and for whole files, tries that failed included; not those by which an
archive's URL is resolved. Counted apart is how often anything was tried again. Threads that make requests for
the work count towards it too.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextvars import ContextVar

from ..errors import ShadowzarrError


class Traffic:
    """Requests made and bytes received so far.

    Each thread counts for itself, so that none waits for another: requests are also made while HDF5 holds
    its lock.

    Attributes
    ----------
    failures : list of (str, ShadowzarrError)
        Reads that failed after all their tries, with the URL that they were for; the first `_MOST_FAILURES`.
    """

    def __init__(self) -> None:
        self._by_thread: dict[int, tuple[int, int, int]] = {}
        self.failures: list[tuple[str, ShadowzarrError]] = []

    def asked(self) -> None:
        """Count a request that is made."""
        self._add(1, 0, 0)

    def received(self, nbytes: int) -> None:
        """Count bytes of an answer."""
        self._add(0, nbytes, 0)

    def retried(self) -> None:
        """Count a try that is made again, after a pause."""
        self._add(0, 0, 1)

    def failed(self, url: str, error: ShadowzarrError) -> None:
        """Note a read that failed; nobody else may hear of it, when it was a library that asked."""
        if self is not _UNHEARD and len(self.failures) < _MOST_FAILURES:
            self.failures.append((url, error))

    @property
    def requests(self) -> int:
        """Requests so far."""
        return sum(requests for requests, _, _ in list(self._by_thread.values()))

    @property
    def nbytes(self) -> int:
        """Bytes received so far."""
        return sum(nbytes for _, nbytes, _ in list(self._by_thread.values()))

    @property
    def retries(self) -> int:
        """Tries so far that were made again."""
        return sum(retries for _, _, retries in list(self._by_thread.values()))

    def _add(self, requests: int, nbytes: int, retries: int) -> None:
        thread = threading.get_ident()
        before = self._by_thread.get(thread, (0, 0, 0))
        self._by_thread[thread] = (before[0] + requests, before[1] + nbytes, before[2] + retries)


_MOST_FAILURES = 1000

_UNHEARD = Traffic()
"""Counts what nobody asked to be counted."""

_TRAFFIC: ContextVar[Traffic] = ContextVar("traffic", default=_UNHEARD)


def current() -> Traffic:
    """What counts the requests of the work that is being done here."""
    return _TRAFFIC.get()


@contextlib.contextmanager
def counted() -> Iterator[Traffic]:
    """Count the requests made inside; within another such block, that one's count goes on.

    An error of the library that leaves the outermost block tells its `retries`.
    """
    around = _TRAFFIC.get()
    if around is not _UNHEARD:
        yield around
        return
    traffic = Traffic()
    token = _TRAFFIC.set(traffic)
    try:
        yield traffic
    except ShadowzarrError as error:
        error.retries = traffic.retries
        raise
    finally:
        _TRAFFIC.reset(token)
