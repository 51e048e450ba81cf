"""Faults that a loopback server shows on request, chosen by path and counted.

Here is what can go wrong and for which requests; showing it is left to `shadowzarr.testing.connection`
and to the server's application.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Literal

from .byte_ranges import parse_range
from .http_messages import Request


@dataclass(kw_only=True)
class Effects:
    """What is done to one answer.

    Attributes
    ----------
    status : int or None
        Answer with this status and an error body instead of what was asked for.
    retry_after : int or str or None
        A ``Retry-After`` header, seconds or any text; needs `status`.
    location : str or None
        A ``Location`` header; needs `status`. ``{path}`` stands for the path and query that were asked for.
    html : bool
        The error body is an HTML page, as of a proxy, instead of the server's own form.
    drop : bool
        Close the connection without an answer.
    reset_after : int or None
        Reset the connection (RST) after this many bytes of the body.
    short_by : int
        Send this many bytes fewer than the answer has.
    declare_short : bool
        With `short_by`: ``Content-Length`` names what is sent, so that only the client's own count
        shows the loss. Without, it names the full length and the connection is closed.
    latency : float
        Seconds before anything is answered; adds up over faults.
    first_byte_delay : float
        Seconds between the headers and the first byte of the body; adds up over faults.
    bandwidth : float or None
        Bytes of body per second and connection.
    ignore_range : bool
        Answer a range request with 200 and the whole object.
    etag : str or None
        The object's ETag is this from now on (give it with its double quotes): sent, and compared
        with ``If-Match`` and ``If-None-Match``.
    ignore_conditions : bool
        ``If-Match`` and ``If-None-Match`` are not looked at.
    shift_start, shift_total : int
        Numbers added to the first byte and to the size that ``Content-Range`` tells; the bytes stay.
    hide_range : bool
        A part comes without ``Content-Range``.
    other_bytes : bool
        The body has its length and headers, and other bytes.
    gzip : bool
        The body comes compressed, and says so.
    http10 : bool
        The answer is of HTTP/1.0, and the last of its connection.
    framing : str or None
        How the end of the body is told instead of by ``Content-Length``: ``chunked``, or ``close`` (the
        connection ends).
    hang_up : bool
        The connection is closed after the answer, without a word about it.
    """

    status: int | None = None
    retry_after: int | str | None = None
    location: str | None = None
    html: bool = False
    drop: bool = False
    reset_after: int | None = None
    short_by: int = 0
    declare_short: bool = False
    latency: float = 0.0
    first_byte_delay: float = 0.0
    bandwidth: float | None = None
    ignore_range: bool = False
    etag: str | None = None
    ignore_conditions: bool = False
    shift_start: int = 0
    shift_total: int = 0
    hide_range: bool = False
    other_bytes: bool = False
    gzip: bool = False
    http10: bool = False
    framing: Literal["chunked", "close"] | None = None
    hang_up: bool = False


@dataclass(kw_only=True, eq=False)
class Fault(Effects):
    """Effects, and the requests that they are shown to.

    Attributes
    ----------
    path : str
        Pattern (`fnmatch`, case kept) of the decoded path without its leading slash; ``*`` also
        matches slashes.
    method : str or None
        Only requests with this method.
    authorized : bool or None
        Only requests with (True) or without (False) an ``Authorization`` header.
    signed : bool or None
        Only requests with (True) or without (False) a signature in the query.
    ranges_from : int or None
        Only requests whose range starts at or after this byte. A request without a range starts
        at 0; a suffix range counts as starting after any byte.
    after : int
        This many matching requests are let through first.
    times : int or None
        The fault goes away after showing this often; None for never.
    action : callable or None
        Called before the request is answered, for instance to change a file between two requests.
    hits : int
        How often the fault has shown. Not to be set.
    """

    path: str = "*"
    method: str | None = None
    authorized: bool | None = None
    signed: bool | None = None
    ranges_from: int | None = None
    after: int = 0
    times: int | None = None
    action: Callable[[], object] | None = None
    hits: int = 0
    _passed: int = 0

    def matches(self, request: Request) -> bool:
        """Whether the fault is meant for this request, whatever has been counted so far."""
        return (
            fnmatchcase(request.path.lstrip("/"), self.path)
            and self.method in (None, request.method)
            and self.authorized in (None, "authorization" in request.headers)
            and self.signed in (None, "X-Amz-Signature" in request.parameters)
            and (self.ranges_from is None or _range_start(request) >= self.ranges_from)
        )

    def count(self) -> bool:
        """Count one matching request; True when the fault shows for it."""
        if self._passed < self.after:
            self._passed += 1
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        self.hits += 1
        return True


class Faults:
    """The faults of one server. May be changed at any time, from any thread.

    Several faults may show for one request: delays add up, and of other effects the one added
    last wins.

    Examples
    --------
    >>> faults = Faults()
    >>> busy = faults.add(Fault(path="*.nwb", status=503, times=2))
    >>> faults.take(Request("GET", "/a.nwb")).status
    503
    >>> busy.hits
    1
    """

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> Fault:
        """Switch a fault on, and return it, for its `hits`."""
        with self._lock:
            self._faults.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Switch one fault off.

        Raises
        ------
        ValueError
            When it is not on.
        """
        with self._lock:
            self._faults.remove(fault)

    def clear(self) -> None:
        """Switch all faults off."""
        with self._lock:
            self._faults.clear()

    def take(self, request: Request) -> Effects:
        """Count a request, run the actions meant for it and give the effects on its answer."""
        with self._lock:
            shown = [fault for fault in self._faults if fault.matches(request) and fault.count()]
        for fault in shown:
            if fault.action is not None:
                fault.action()
        return combine(shown)


_DELAYS = ("latency", "first_byte_delay")
_DEFAULTS = Effects()


def combine(effects: Iterable[Effects]) -> Effects:
    """Merge effects: delays are added, of the others the last one that is set wins."""
    merged = Effects()
    for one in effects:
        for field in fields(Effects):
            value = getattr(one, field.name)
            if field.name in _DELAYS:
                setattr(merged, field.name, getattr(merged, field.name) + value)
            elif value != getattr(_DEFAULTS, field.name):
                setattr(merged, field.name, value)
    return merged


def _range_start(request: Request) -> float:
    asked = parse_range(request.headers.get("range"))
    if asked is None:
        return 0
    return float("inf") if asked.first is None else asked.first
