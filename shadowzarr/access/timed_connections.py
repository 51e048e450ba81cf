"""Connections of urllib3 whose answers have an end: no byte is waited for after a given time.

urllib3's own time-outs are for each read of the socket, and a server that sends its headers byte by byte
begins them anew with each byte. Every connection is made here, those of redirects too.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import threading
import time
from collections.abc import Iterator
from typing import Any, cast

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class _Until(threading.local):
    """When the request of a thread has to be over."""

    time: float | None = None


_UNTIL = _Until()


@contextlib.contextmanager
def until(end: float) -> Iterator[None]:
    """Read no answer longer than that, on this thread.

    Parameters
    ----------
    end : float
        Of `time.monotonic`. A read that begins later raises a `TimeoutError`.
    """
    _UNTIL.time = end
    try:
        yield
    finally:
        _UNTIL.time = None


class _TimedStream(io.RawIOBase):
    """What comes from a socket."""

    def __init__(self, socket_stream: io.RawIOBase) -> None:
        super().__init__()
        self._stream = socket_stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        if _UNTIL.time is not None and time.monotonic() > _UNTIL.time:
            raise TimeoutError("the answer takes too long")
        return cast("int | None", self._stream.readinto(buffer))

    def fileno(self) -> int:
        return self._stream.fileno()

    def close(self) -> None:
        self._stream.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fp = io.BufferedReader(_TimedStream(self.fp.detach()))


class TimedHTTPConnection(HTTPConnection):
    """See the module."""

    response_class = _TimedResponse


class TimedHTTPSConnection(HTTPSConnection):
    """See the module."""

    response_class = _TimedResponse


class _TimedHTTPPool(HTTPConnectionPool):
    ConnectionCls = TimedHTTPConnection


class _TimedHTTPSPool(HTTPSConnectionPool):
    ConnectionCls = TimedHTTPSConnection


def time_answers(pools: urllib3.PoolManager) -> None:
    """Let a manager of connections make such connections only; it must not have made any yet."""
    pools.pool_classes_by_scheme = {"http": _TimedHTTPPool, "https": _TimedHTTPSPool}
