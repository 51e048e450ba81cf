"""What every HTTP client here shares: time-outs, the program's name, statuses as errors, retries.

The policy is pure (which pause after which failure); waiting and sending are done by the callers.
"""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version

from ..errors import (
    AccessDeniedError,
    ReadError,
    ShadowzarrError,
    ShortReadError,
    SourceChangedError,
    SourceNotFoundError,
    TransientReadError,
)
from .locations import without_query

CONNECT_TIMEOUT = 10.0
"""Seconds to wait for a connection."""
READ_TIMEOUT = 60.0
"""Seconds without a byte before a read is given up."""
WHOLE_TIMEOUT = 600.0
"""Seconds for one request in all: 64 MiB over a link of 1 Mbit/s."""

TOLD_AFTER = 2.0
"""Seconds of failed tries after which it is told that there are some, once for each request."""

_waiting = logging.getLogger("shadowzarr.waiting")
_SECONDS = re.compile(r"-?\d{1,15}(\.\d*)?", re.ASCII)
_TRANSIENT = frozenset({408, 425, 429})
_LASTING_5XX = frozenset({501, 505})  # the server cannot do it, now or later


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long a request is tried.

    Attributes
    ----------
    attempts : int
        Most tries of one request.
    first_pause, factor, longest_pause : float
        The pause after the n-th failure is ``first_pause * factor**(n-1)`` seconds, at most `longest_pause`,
        less a random part of up to a half so that many clients do not come back at once.
    total : float
        Seconds after which no further try begins. A server's Retry-After counts within it.
    """

    attempts: int = 6
    first_pause: float = 0.25
    factor: float = 2.0
    longest_pause: float = 10.0
    total: float = 120.0

    def pause(self, failures: int) -> float:
        """Seconds to wait after this many failures in a row, jitter included."""
        longest = min(self.longest_pause, self.first_pause * self.factor ** (failures - 1))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - not for secrets


DEFAULT_RETRIES = RetryPolicy()


class PastTheEndError(ShortReadError):
    """Status 416: the file ends before the range.

    Attributes
    ----------
    total : int or None
        Size of the file, when the server said it.
    etag : str or None
        Its ETag, when the server said it.
    """

    total: int | None = None
    etag: str | None = None


@dataclass(slots=True)
class Retries:
    """The tries of one request.

    Attributes
    ----------
    policy : RetryPolicy
        How often and how long.
    failures : int
        Tries that failed so far.
    """

    policy: RetryPolicy
    failures: int = 0
    _started: float = field(default_factory=time.monotonic)
    _is_told: bool = False

    def pause_after(self, error: ShadowzarrError) -> float:
        """Seconds to wait before the next try.

        Parameters
        ----------
        error : ShadowzarrError
            How the last try failed; its Retry-After is honoured.

        Raises
        ------
        ShadowzarrError
            `error` itself, when it is a lasting one or the tries are used up; then it says how many.
        """
        self.failures += 1
        if not error.transient:
            raise error
        if self.failures >= self.policy.attempts:
            raise self._told(error)
        asked = error.retry_after if isinstance(error, TransientReadError) else None
        pause = max(self.policy.pause(self.failures), asked or 0.0)
        passed = time.monotonic() - self._started + pause
        if passed > self.policy.total:
            raise self._told(error)
        if passed > TOLD_AFTER and not self._is_told:
            self._is_told = True
            _waiting.info("%s; still trying (%d of %d tries)", error, self.failures, self.policy.attempts)
        return pause

    def _told(self, error: ShadowzarrError) -> ShadowzarrError:
        if self.failures > 1:
            error.args = (f"{error} ({self.failures} tries)",)
        return error


def user_agent() -> str:
    """The name under which requests are made."""
    try:
        return f"shadowzarr/{version('shadowzarr')}"
    except PackageNotFoundError:
        return "shadowzarr"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a Retry-After header asks to wait.

    Parameters
    ----------
    headers : mapping
        Of an answer; names are looked up as given, so the mapping should not care about case.

    Returns
    -------
    float or None
        Never negative; None when there is no such header, or it is neither seconds nor a date.
    """
    text = headers.get("Retry-After", "").strip()
    if _SECONDS.fullmatch(text):
        return max(0.0, float(text))
    return _seconds_until(text) if text else None


def is_transient_status(status: int) -> bool:
    """Whether an HTTP status may pass by itself: 408, 425, 429 and nearly every 5xx."""
    return status in _TRANSIENT or (status >= 500 and status not in _LASTING_5XX)


def error_for_status(
    status: int, url: str, *, headers: Mapping[str, str] | None = None, if_match: str | None = None
) -> ReadError | SourceChangedError:
    """The error that an HTTP status of a file server stands for.

    Parameters
    ----------
    status : int
        Neither 200 nor 206.
    url : str
        What was asked for; its query is not shown.
    headers : mapping, optional
        Of the answer, for Retry-After.
    if_match : str, optional
        The ETag that the request asked for.
    """
    shown = without_query(url)
    if is_transient_status(status):
        return TransientReadError(
            f"{shown}: the server answered {status}; try again later",
            status=status,
            retry_after=retry_after(headers or {}),
        )
    if status in {404, 410}:
        return SourceNotFoundError(f"{shown}: nothing is there ({status}); check the URL", status=status)
    if status in {401, 403}:
        return AccessDeniedError(f"{shown}: the server refuses access ({status})", status=status)
    if status == 412 and if_match is None:
        return ReadError(
            f"{shown}: the server says that a condition does not hold (412), and none was sent: no ETag is "
            "recorded for this file. Something on the way must have added it; ask who runs the server",
            status=status,
        )
    if status == 412:
        return SourceChangedError(
            f"{shown} is not the file that was indexed: the server refused its recorded ETag (412). "
            "Generate its references again, or open them with validate_sources=False"
        )
    if status == 416:
        return ShortReadError(f"{shown}: the file ends before the bytes asked for (416)", status=status)
    return ReadError(f"{shown}: the server answered {status}, expected the bytes asked for", status=status)


def encoded_body(url: str, encoding: str) -> ReadError:
    """The error for a body that comes compressed, although nobody asked for that."""
    return ReadError(
        f"{without_query(url)}: came encoded as {encoding}, expected plain bytes; have the server send the "
        "file without Content-Encoding"
    )


def connection_failure(error: BaseException) -> str:
    """Say for a message why there is no connection: nothing listens, or the kind of error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ConnectionRefusedError):
        cause = cause.__cause__ or cause.__context__
    return "refused: nothing listens there" if cause is not None else type(error).__name__


def range_ignored(url: str) -> ReadError:
    """The error for a server that sends a whole file when a part is asked for."""
    return ReadError(
        f"{without_query(url)}: the server ignores Range requests, so every part would cost the whole file. "
        "Serve the file with a server that supports ranges, or copy it to local disk",
        status=200,
    )


def _seconds_until(date: str) -> float | None:
    try:
        when = parsedate_to_datetime(date)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # no date, or none that can be reckoned with
        return None
