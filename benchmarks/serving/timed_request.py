"""One request as the server saw it (needs the standard library alone)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TimedRequest:
    """One request of the log.

    Attributes
    ----------
    start, end : float
        Seconds when the request had been read and when its last byte was handed to the system.
    path : str
        Decoded.
    offset, length : int
        The bytes that were sent; 0 and 0 for an answer without a body.
    status : int
        HTTP status.
    """

    start: float
    end: float
    path: str
    offset: int
    length: int
    status: int
