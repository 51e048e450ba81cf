"""Requests and responses of the loopback servers, and reading a request from a connection.

What a server answers is left to its application, how it is sent to `shadowzarr.testing.connection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO
from urllib.parse import parse_qsl, unquote

MAX_LINE = 64 * 1024
MAX_HEADERS = 200
MAX_BODY = 16 * 2**20

REASONS = {
    200: "OK",
    204: "No Content",
    206: "Partial Content",
    301: "Moved Permanently",
    302: "Found",
    304: "Not Modified",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    412: "Precondition Failed",
    416: "Requested Range Not Satisfiable",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


class BadRequestError(ValueError):
    """What came over the connection is not a request that these servers read."""


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes
    ----------
    method : str
        In upper case.
    target : str
        Path and query as they were sent.
    headers : mapping of str to str
        By name in lower case; repeated headers are joined by a comma.
    body : bytes
        Empty without a ``Content-Length``.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @cached_property
    def raw_path(self) -> str:
        """The path as it was sent, percent-encoded."""
        return self.target.partition("?")[0]

    @cached_property
    def path(self) -> str:
        """The path, decoded."""
        return unquote(self.raw_path)

    @cached_property
    def query(self) -> tuple[tuple[str, str], ...]:
        """The parameters in their order, decoded."""
        return tuple(parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    @cached_property
    def parameters(self) -> dict[str, str]:
        """The parameters by name; of a repeated one the last."""
        return dict(self.query)


@dataclass(frozen=True)
class FilePart:
    """Bytes of a file that are read only while they are sent."""

    path: Path
    offset: int
    length: int


@dataclass
class Response:
    """One answer.

    Attributes
    ----------
    status : int
        HTTP status.
    headers : dict
        Without ``Content-Length``, ``Date`` and ``Connection``, which the connection adds.
    body : bytes or FilePart
        Left out when the request was HEAD; its length is announced all the same.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | FilePart = b""

    @property
    def length(self) -> int:
        """Number of bytes in the body."""
        return self.body.length if isinstance(self.body, FilePart) else len(self.body)


def read_request(stream: BinaryIO) -> Request | None:
    """Read the next request of a connection.

    Parameters
    ----------
    stream : file object
        The connection, buffered.

    Returns
    -------
    Request or None
        None when the client has closed the connection.

    Raises
    ------
    BadRequestError
        When the bytes are not an HTTP/1 request with a plain body.
    """
    line = _line(stream)
    if not line:
        return None
    words = line.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequestError("the first line is not an HTTP/1 request line")
    headers = _headers(stream)
    if words[2] == "HTTP/1.0":
        headers.setdefault("connection", "close")
    return Request(words[0], words[1], headers, _body(stream, headers))


def _line(stream: BinaryIO) -> str:
    line = stream.readline(MAX_LINE + 1)
    if len(line) > MAX_LINE:
        raise BadRequestError(f"a header line is longer than {MAX_LINE} bytes")
    return line.decode("latin-1").rstrip("\r\n")


def _headers(stream: BinaryIO) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(MAX_HEADERS):
        line = _line(stream)
        if not line:
            return headers
        name, colon, value = line.partition(":")
        if not colon:
            raise BadRequestError("a header line has no colon")
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    raise BadRequestError(f"more than {MAX_HEADERS} header lines")


def _body(stream: BinaryIO, headers: Mapping[str, str]) -> bytes:
    if "transfer-encoding" in headers:
        raise BadRequestError("bodies need a Content-Length")
    text = headers.get("content-length", "0")
    if not text.isdecimal() or int(text) > MAX_BODY:
        raise BadRequestError(f"Content-Length is not a number up to {MAX_BODY}")
    body = stream.read(int(text))
    if len(body) < int(text):
        raise BadRequestError("the body ended early")
    return body
