"""One connection of the benchmark server: asyncio's protocol, as lean as it goes.

The answers are those of `shadowzarr.testing`, which serves a third as many requests per second. One
request after the other; a client that sends several at once gets its answers in that order all the same,
since the latency is the same for all.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import orjson

from shadowzarr.testing.faults import Effects
from shadowzarr.testing.http_messages import REASONS, FilePart, Request, Response
from shadowzarr.testing.object_responses import error_response, object_response

from .pacing import Link
from .stored_files import StoredFiles
from .timed_request import TimedRequest

LOG = "/_log"
CLEAR = "/_log/clear"
_BLOCK = 64 * 1024
_NO_EFFECTS = Effects()


@dataclass
class Site:
    """What all connections share."""

    files: StoredFiles
    latency: float
    link: Link
    log: list[TimedRequest] = field(default_factory=list)


class RangeProtocol(asyncio.Protocol):
    """Serves one client."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._transport: asyncio.Transport
        self._unsent: list[TimedRequest] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask to be told when all that was written has left."""
        assert isinstance(transport, asyncio.Transport)
        transport.set_write_buffer_limits(high=0)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Read requests; each is answered after the latency."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            request = parse_request(self._received[:end])
            self._received = self._received[end + 4 :]
            if request.target.startswith(LOG):
                self._control(request.target)
            elif self._site.latency:
                now = time.perf_counter()
                self._loop.call_later(self._site.latency, self._answer, request, now)
            else:
                self._answer(request, time.perf_counter())

    def resume_writing(self) -> None:
        """Everything has left: the answers that waited are complete."""
        now = time.perf_counter()
        for each in self._unsent:
            self._enter(each, now)
        self._unsent.clear()

    def _control(self, target: str) -> None:
        """Hand the log out, or clear it; neither is delayed or logged."""
        body = orjson.dumps(self._site.log)
        if target == CLEAR:
            self._site.log.clear()
        self._transport.write(head(Response(200, {"Content-Type": "application/json"}, body)) + body)

    def _answer(self, request: Request, start: float) -> None:
        if self._transport.is_closing():
            return
        response = self._response(request)
        body = self._body(request, response)
        offset = response.body.offset if isinstance(response.body, FilePart) else 0
        entry = TimedRequest(start, 0.0, request.path, offset, len(body), response.status)
        if self._site.link.is_limited:
            self._transport.write(head(response))
            self._send_paced(body, entry)
            return
        if len(body) <= _BLOCK:
            self._transport.write(head(response) + body)
        else:
            self._transport.write(head(response))
            self._transport.write(body)
        self._sent(entry)

    def _response(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return error_response(405)
        stored = self._site.files.find(request.path.lstrip("/"))
        if stored is None:
            return error_response(404)
        return object_response(request, _NO_EFFECTS, stored)

    def _body(self, request: Request, response: Response) -> memoryview:
        if request.method == "HEAD":
            return memoryview(b"")
        if isinstance(response.body, FilePart):
            return self._site.files.read(response.body.path, response.body.offset, response.body.length)
        return memoryview(response.body)

    def _send_paced(self, body: memoryview, entry: TimedRequest) -> None:
        """Send a block when the link has room for it, and the next one afterwards."""
        block, rest = body[:_BLOCK], body[_BLOCK:]
        now = self._loop.time()
        self._loop.call_at(self._site.link.book(now, len(block)), self._send_block, block, rest, entry)

    def _send_block(self, block: memoryview, rest: memoryview, entry: TimedRequest) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(block)
        if len(rest):
            self._send_paced(rest, entry)
        else:
            self._sent(entry)

    def _sent(self, entry: TimedRequest) -> None:
        if self._transport.get_write_buffer_size():
            self._unsent.append(entry)
        else:
            self._enter(entry, time.perf_counter())

    def _enter(self, entry: TimedRequest, end: float) -> None:
        self._site.log.append(
            TimedRequest(entry.start, end, entry.path, entry.offset, entry.length, entry.status)
        )


def parse_request(text: bytes) -> Request:
    """Read the head of a request that has no body."""
    first, *lines = text.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Request(method, target, headers)


def head(response: Response) -> bytes:
    """Status line and headers."""
    lines = [f"HTTP/1.1 {response.status} {REASONS.get(response.status, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    lines.append(f"Content-Length: {response.length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
