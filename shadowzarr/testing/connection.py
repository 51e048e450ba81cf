"""One connection to a loopback server: requests read one after the other, answers sent, faults shown.

What is answered is the application's business. HTTP/1.1 with keep-alive; no pipelining.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterator
from email.utils import formatdate
from typing import TYPE_CHECKING

from .faults import Effects, combine
from .http_messages import REASONS, BadRequestError, FilePart, Request, Response, read_request
from .request_log import LoggedRequest

if TYPE_CHECKING:
    from .http_server import LoopbackServer

BLOCK = 256 * 1024
_PACED_BLOCKS_PER_SECOND = 50
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Connection:
    """Serves one client until it goes, the server stops or a fault ends it."""

    def __init__(self, server: LoopbackServer, client: socket.socket, number: int) -> None:
        self._server = server
        self._socket = client
        self._number = number

    def serve(self) -> None:
        """Answer requests; returns when the connection is closed."""
        if self._server.tls is not None:
            try:
                self._socket = self._server.tls.wrap_socket(self._socket, server_side=True)
            except OSError:
                self._socket.close()
                return  # the client does not trust this server
        with self._socket, self._socket.makefile("rb") as stream:
            try:
                while not self._server.stopping.is_set():
                    request = read_request(stream)
                    if request is None or not self._answer(request):
                        return
            except BadRequestError as error:
                self._refuse(str(error))
            except OSError:
                return  # the client has gone

    def interrupt(self) -> None:
        """Wake the connection up so that `serve` returns."""
        with contextlib.suppress(OSError):  # it may be closed already
            self._socket.shutdown(socket.SHUT_RDWR)

    def _refuse(self, message: str) -> None:
        body = message.encode()
        head = _head(Response(400, {"Content-Type": "text/plain"}, body), len(body), is_last=True)
        with contextlib.suppress(OSError):  # nobody may be listening to a broken client's refusal
            self._socket.sendall(head + body)

    def _answer(self, request: Request) -> bool:
        entry = self._server.log.begin(request, self._number)
        try:
            effects = combine([self._server.effects, self._server.faults.take(request)])
            self._server.pause(effects.latency)
            if effects.drop:
                self._server.log.end(entry, status=0, sent=0, is_broken=True)
                return False
            response = self._server.respond(request, effects)
        except BaseException:
            self._server.log.end(entry, status=0, sent=0, is_broken=True)
            raise
        return _Sending(self._server, self._socket, request, response, effects, entry).send()


class _Sending:
    """One answer on its way."""

    def __init__(
        self,
        server: LoopbackServer,
        client: socket.socket,
        request: Request,
        response: Response,
        effects: Effects,
        entry: LoggedRequest,
    ) -> None:
        self._server, self._socket, self._entry = server, client, entry
        self._response, self._effects = response, effects
        has_body = request.method != "HEAD" and response.status not in (204, 304)
        body = response.length if has_body else 0
        self._remaining = max(0, body - effects.short_by)
        self._declared = self._remaining if has_body and effects.declare_short else response.length
        if has_body and effects.reset_after is not None:
            self._remaining = min(self._remaining, effects.reset_after)
        self._is_cut = has_body and self._remaining < self._declared
        self._framing = effects.framing if has_body else None
        is_asked_last = request.headers.get("connection", "").lower() == "close"
        self._is_last = self._is_cut or is_asked_last or effects.http10 or self._framing == "close"
        self._is_reset = has_body and effects.reset_after is not None
        self._sent = 0

    def send(self) -> bool:
        """Send it; False when the connection is to be closed."""
        try:
            self._send_all()
        except OSError:
            self._end(is_broken=True)
            return False
        if self._is_reset:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            return False
        return not self._is_last and not self._effects.hang_up

    def _send_all(self) -> None:
        pending = self._head()
        if self._effects.first_byte_delay:
            self._socket.sendall(pending)
            pending = b""
            self._server.pause(self._effects.first_byte_delay)
        for block in self._blocks():
            if not self._remaining:
                # The entry is complete before the client can know that its answer is.
                self._end(sent=self._sent + len(block), is_broken=self._is_cut)
            self._socket.sendall(pending + self._framed(block))
            pending = b""
            self._sent += len(block)
        if not self._entry.ended:
            raise OSError("the file became shorter while it was sent")

    def _head(self) -> bytes:
        return _head(
            self._response,
            self._declared,
            is_last=self._is_last,
            version="HTTP/1.0" if self._effects.http10 else "HTTP/1.1",
            framing=self._framing,
        )

    def _framed(self, block: bytes) -> bytes:
        """A block as it is sent; the last one with what ends the body, unless it was cut off."""
        if self._framing != "chunked":
            return block
        end = b"" if self._remaining or self._is_cut else b"0\r\n\r\n"
        return (b"%x\r\n%b\r\n" % (len(block), block) if block else b"") + end

    def _end(self, *, is_broken: bool, sent: int | None = None) -> None:
        total = self._sent if sent is None else sent
        self._server.log.end(self._entry, status=self._response.status, sent=total, is_broken=is_broken)

    def _blocks(self) -> Iterator[bytes]:
        """Give the body in blocks, one empty block if there is none, at the pace of the bandwidth."""
        bandwidth = self._effects.bandwidth
        size = BLOCK if bandwidth is None else max(1, min(BLOCK, int(bandwidth / _PACED_BLOCKS_PER_SECOND)))
        due = time.monotonic()
        for block in _read(self._response.body, self._remaining, size):
            self._remaining -= len(block)
            if bandwidth is not None:
                due += len(block) / bandwidth
                self._server.pause(due - time.monotonic())
            yield block


def _read(body: bytes | FilePart, length: int, size: int) -> Iterator[bytes]:
    if not length:
        yield b""
    elif isinstance(body, bytes):
        for start in range(0, length, size):
            yield body[start : min(start + size, length)]
    else:
        with body.path.open("rb", buffering=0) as file:
            file.seek(body.offset)
            while length and (block := file.read(min(size, length))):
                length -= len(block)
                yield block


def _head(
    response: Response, length: int, *, is_last: bool, version: str = "HTTP/1.1", framing: str | None = None
) -> bytes:
    lines = [f"{version} {response.status} {REASONS.get(response.status, 'Unknown')}"]
    lines.append(f"Date: {formatdate(usegmt=True)}")
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    if framing == "chunked":
        lines.append("Transfer-Encoding: chunked")
    elif framing is None and response.status not in (204, 304):
        lines.append(f"Content-Length: {length}")
    if is_last:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
