"""Byte ranges over urllib3: the slow path, which works after fork and tells status and headers.

Every thread has its own connections, so that no request waits for another Python thread. One try per
call; retries and redirection of DANDI URLs are decided by `process_connections` and `url_resolver`.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import urllib3
from urllib3.exceptions import HTTPError, LocationValueError, MaxRetryError, ResponseError, SSLError

from ..errors import ReadError, RefusedPlaceError, ShadowzarrError, TransientReadError
from ..refs.byte_range import FileRange
from .checked_connections import InternalAddressError, refuse_internal
from .http_client import (
    CONNECT_TIMEOUT,
    READ_TIMEOUT,
    WHOLE_TIMEOUT,
    PastTheEndError,
    connection_failure,
    encoded_body,
    error_for_status,
    range_ignored,
    user_agent,
)
from .locations import without_query
from .source_identity import RangeAnswer
from .timed_connections import time_answers, until

_CONTENT_RANGE = re.compile(r"^bytes (?:(?P<first>\d+)-(?P<last>\d+)|\*)/(?P<total>\d+|\*)$")
_MAX_REDIRECTS: Final = 5
_PIECE: Final = 2**18  # bytes of a body that are asked for at once


@dataclass(frozen=True, slots=True)
class Reply:
    """Status and headers of an answer whose body was not read."""

    status: int
    headers: Mapping[str, str]


class _Connections(threading.local):
    """One pool of connections per thread."""

    def __init__(self, *, allow_private: bool) -> None:
        self.pools = urllib3.PoolManager(
            num_pools=16,
            maxsize=1,
            timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=READ_TIMEOUT),
            headers={"User-Agent": user_agent(), "Accept-Encoding": "identity"},
        )
        if allow_private:
            time_answers(self.pools)
        else:
            refuse_internal(self.pools)


class Urllib3Transport:
    """Requests over urllib3, one try each.

    Parameters
    ----------
    allow_private : bool, optional
        Whether internal addresses may be connected to (`allowed_places.is_internal`).
    """

    def __init__(self, *, allow_private: bool = True) -> None:
        self._connections = _Connections(allow_private=allow_private)

    def get(self, url: str, wanted: FileRange | None, if_match: str | None) -> RangeAnswer:
        """Get one range, or the whole file.

        Parameters
        ----------
        url : str
            An http(s) URL; redirects are followed, and never with a key.
        wanted : FileRange or None
            The bytes; None for all.
        if_match : str or None
            A strong ETag that the file must have.

        Raises
        ------
        ReadError, SourceChangedError
            As `http_client.error_for_status` has it; `TransientReadError` when the connection failed.
        RefusedPlaceError
            When the URL, or what it redirects to, is at an internal address that may not be read.
        """
        headers = {} if wanted is None else {"Range": f"bytes={wanted.offset}-{wanted.stop - 1}"}
        if if_match is not None:
            headers["If-Match"] = if_match
        problem: ShadowzarrError
        end = time.monotonic() + WHOLE_TIMEOUT
        try:
            with until(end):
                return self._exchange(url, headers, wanted, end)
        except (HTTPError, OSError) as error:
            if isinstance(error, ShadowzarrError):
                raise
            problem = _too_slow(url) if time.monotonic() > end else _connection_error(url, error)
        except InternalAddressError as error:
            problem = _internal(url, error)
        raise problem  # outside of the handler: urllib3's own message holds the query

    def ask(self, url: str, headers: Mapping[str, str]) -> Reply:
        """Send a GET without following redirects and without reading the body.

        Raises
        ------
        TransientReadError, ReadError
            When there was no answer.
        RefusedPlaceError
            As `get` raises it.
        """
        problem: ShadowzarrError
        end = time.monotonic() + WHOLE_TIMEOUT
        try:
            with until(end):
                response = self._connections.pools.request(
                    "GET",
                    url,
                    headers={**self._connections.pools.headers, **headers},
                    redirect=False,
                    retries=False,
                    preload_content=False,
                )
            reply = Reply(response.status, response.headers)
            response.close()
        except (HTTPError, OSError) as error:
            problem = _too_slow(url) if time.monotonic() > end else _connection_error(url, error)
        except InternalAddressError as error:
            problem = _internal(url, error)
        else:
            return reply
        raise problem

    def _exchange(
        self, url: str, headers: dict[str, str], wanted: FileRange | None, end: float
    ) -> RangeAnswer:
        response = self._connections.pools.request(
            "GET",
            url,
            headers={**self._connections.pools.headers, **headers},
            retries=urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=_MAX_REDIRECTS),
            preload_content=False,
        )
        try:
            _check_status(response, url, wanted, headers.get("If-Match"))
            if wanted is None:
                data = _body(response, url, None, end)
                return RangeAnswer(data, len(data), response.headers.get("ETag"))
            data = _body(response, url, wanted.length, end)
            total = _total(response, url, wanted)
            return RangeAnswer(data, total, response.headers.get("ETag"))
        finally:
            _put_back(response)


def content_range(header: str) -> tuple[int | None, int | None]:
    """First byte and total size in a Content-Range header; None for what it does not say."""
    match = _CONTENT_RANGE.match(header.strip())
    if match is None:
        return None, None
    first = None if match["first"] is None else int(match["first"])
    return first, None if match["total"] == "*" else int(match["total"])


def _check_status(
    response: urllib3.BaseHTTPResponse, url: str, wanted: FileRange | None, if_match: str | None
) -> None:
    status = response.status
    encoding = response.headers.get("Content-Encoding", "identity")
    if status in {200, 206} and encoding.lower() != "identity":
        raise encoded_body(url, encoding)
    if status == 200 and wanted is not None:
        length = response.headers.get("Content-Length")
        if wanted.offset != 0 or length != str(wanted.length):
            raise range_ignored(url)
    elif status == 416 and wanted is not None:
        raise _past_the_end(response, url, wanted)
    elif status != (200 if wanted is None else 206) and status != 200:
        raise error_for_status(status, url, headers=response.headers, if_match=if_match)


def _past_the_end(response: urllib3.BaseHTTPResponse, url: str, wanted: FileRange) -> PastTheEndError:
    _, total = content_range(response.headers.get("Content-Range", ""))
    error = PastTheEndError(
        f"{without_query(url)}: asked for bytes {wanted.offset} to {wanted.stop}, "
        f"the file has {'fewer' if total is None else total} bytes (416)",
        status=416,
    )
    error.total = total
    error.etag = response.headers.get("ETag")
    return error


def _total(response: urllib3.BaseHTTPResponse, url: str, wanted: FileRange) -> int | None:
    if response.status == 200:
        return wanted.length
    header = response.headers.get("Content-Range", "")
    first, total = content_range(header)
    if first != wanted.offset:
        raise TransientReadError(  # of a cache on the way, more often than of the server
            f"{without_query(url)}: asked for bytes from {wanted.offset} on, the answer says {header!r}",
            status=206,
        )
    return total


def _body(response: urllib3.BaseHTTPResponse, url: str, length: int | None, end: float) -> bytes:
    """All of a body or its first bytes, in the time that a request may take; time-outs are for each piece."""
    parts: list[bytes] = []
    missing = length
    while missing is None or missing > 0:
        part = response.read1(_PIECE if missing is None else min(missing, _PIECE))
        if not part:
            break
        parts.append(part)
        missing = None if missing is None else missing - len(part)
        if time.monotonic() > end:
            raise _too_slow(url)
    return b"".join(parts)


def _too_slow(url: str) -> TransientReadError:
    return TransientReadError(
        f"{without_query(url)}: not all bytes came within {WHOLE_TIMEOUT:g} s; "
        "check the network and try again"
    )


def _put_back(response: urllib3.BaseHTTPResponse) -> None:
    """Keep the connection when the body was read to its end; close it otherwise."""
    if response.length_remaining == 0:
        response.drain_conn()
        response.release_conn()
    else:
        response.close()


def _connection_error(url: str, error: Exception) -> ReadError:
    cause = error.reason if isinstance(error, MaxRetryError) and error.reason is not None else error
    shown, kind = without_query(url), type(cause).__name__
    if isinstance(cause, LocationValueError):
        return ReadError(f"{shown}: not a URL that can be read ({kind})")
    if isinstance(cause, SSLError):
        return ReadError(f"{shown}: no secure connection ({kind}); check the server's certificate")
    if isinstance(cause, ResponseError):
        return ReadError(f"{shown}: more than {_MAX_REDIRECTS} redirects")
    why = connection_failure(cause)
    return TransientReadError(f"{shown}: the connection failed ({why}); check the network and try again")


def _internal(url: str, error: InternalAddressError) -> RefusedPlaceError:
    return RefusedPlaceError(
        f"{without_query(url)}: the host {error.host} has an internal address, which may not be read here "
        "(allow_private=False)"
    )


class _HideSignatures(logging.Filter):
    """Takes queries, which may be signatures, out of what urllib3 writes to its debug log."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                without_query(arg).partition("?")[0] if isinstance(arg, str) and "/" in arg else arg
                for arg in record.args
            )
        return True


for _name in ("urllib3.connectionpool", "urllib3.poolmanager", "urllib3.util.retry"):
    logging.getLogger(_name).addFilter(_HideSignatures())
