"""What a loopback server was asked, for tests and benchmarks to count.

Nothing secret is kept: no header values but ``Range`` and ``If-Match``, and no signature of a
presigned URL.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .byte_ranges import parse_range
from .http_messages import Request

_SIGNATURE_PREFIX = "x-amz-"


@dataclass
class LoggedRequest:
    """One request and what was answered.

    Attributes
    ----------
    method, path : str
        The path is decoded and has no query.
    query : dict
        The parameters but those of a signature.
    range : str or None
        The ``Range`` header as it was sent.
    start, stop : int or None
        The range asked for, half open; None where the header leaves an end open.
    if_match : str or None
        The ``If-Match`` header.
    has_authorization : bool
        Whether an ``Authorization`` header was present.
    is_signed : bool
        Whether the query had a signature.
    user_agent : str
        Empty when there was none.
    connection : int
        Number of the connection it came over, from 1.
    started, ended : float
        `time.perf_counter` when the request had been read and when its last byte was handed over;
        `ended` is 0 while it is being answered.
    status : int
        0 until it is answered, and for a dropped connection.
    sent : int
        Bytes of body sent.
    is_broken : bool
        Whether the answer was cut off, by a fault or by the client.
    """

    method: str
    path: str
    query: dict[str, str]
    range: str | None
    start: int | None
    stop: int | None
    if_match: str | None
    has_authorization: bool
    is_signed: bool
    user_agent: str
    connection: int
    started: float
    ended: float = 0.0
    status: int = 0
    sent: int = 0
    is_broken: bool = False


class RequestLog:
    """The requests of one server in the order in which they came.

    An entry is complete before the last byte of its answer leaves, so a client that has its answer
    also finds it here.
    """

    def __init__(self) -> None:
        self._entries: list[LoggedRequest] = []
        self._lock = threading.Lock()
        self._in_flight = 0
        self._max_in_flight = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LoggedRequest]:
        return iter(self.entries)

    @property
    def entries(self) -> list[LoggedRequest]:
        """A copy of the list."""
        with self._lock:
            return list(self._entries)

    @property
    def max_in_flight(self) -> int:
        """The most requests that were being answered at one time."""
        return self._max_in_flight

    @property
    def bytes_sent(self) -> int:
        """Bytes of all bodies."""
        return sum(entry.sent for entry in self.entries)

    @property
    def connections(self) -> int:
        """Number of connections that requests came over."""
        return len({entry.connection for entry in self.entries})

    def select(
        self, path: str = "*", *, method: str | None = None, status: int | None = None
    ) -> list[LoggedRequest]:
        """Give the entries whose path without its leading slash matches a pattern (`fnmatch`)."""
        return [
            entry
            for entry in self.entries
            if fnmatchcase(entry.path.lstrip("/"), path)
            and method in (None, entry.method)
            and status in (None, entry.status)
        ]

    def count(self, path: str = "*", *, method: str | None = None, status: int | None = None) -> int:
        """Give the number of entries that `select` gives."""
        return len(self.select(path, method=method, status=status))

    def clear(self) -> None:
        """Forget all entries and start `max_in_flight` anew."""
        with self._lock:
            self._entries.clear()
            self._max_in_flight = self._in_flight

    def begin(self, request: Request, connection: int) -> LoggedRequest:
        """Enter a request that has been read. Called by the server."""
        entry = _entry(request, connection)
        with self._lock:
            self._entries.append(entry)
            self._in_flight += 1
            self._max_in_flight = max(self._max_in_flight, self._in_flight)
        return entry

    def end(self, entry: LoggedRequest, *, status: int, sent: int, is_broken: bool = False) -> None:
        """Complete an entry. Called by the server, again when the last bytes could not be sent."""
        with self._lock:
            if not entry.ended:
                self._in_flight -= 1
            entry.ended = time.perf_counter()
            entry.status, entry.sent, entry.is_broken = status, sent, is_broken


def _entry(request: Request, connection: int) -> LoggedRequest:
    header = request.headers.get("range")
    asked = parse_range(header)
    last = asked.last if asked and asked.first is not None else None
    return LoggedRequest(
        method=request.method,
        path=request.path,
        query={k: v for k, v in request.query if not k.lower().startswith(_SIGNATURE_PREFIX)},
        range=header,
        start=asked.first if asked else None,
        stop=None if last is None else last + 1,
        if_match=request.headers.get("if-match"),
        has_authorization="authorization" in request.headers,
        is_signed="X-Amz-Signature" in request.parameters,
        user_agent=request.headers.get("user-agent", ""),
        connection=connection,
        started=time.perf_counter(),
    )
