"""A threaded HTTP/1.1 server on the loopback interface, with faults and a request log.

It answers what its application says. One thread accepts, one serves each connection; closing the
server ends them all.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from .altered_answers import altered
from .connection import Connection
from .faults import Effects, Faults
from .http_messages import Request, Response
from .request_log import RequestLog

_BACKLOG = 512


class Application(Protocol):
    """What a server says."""

    def respond(self, request: Request, effects: Effects) -> Response:
        """Answer a request.

        `effects` matters to answers that depend on it: an ignored range, a changed ETag.
        """

    def refuse(self, request: Request, effects: Effects) -> Response:
        """Give the error with the status and the form that `effects` asks for."""


class LoopbackServer:
    """An HTTP server for tests.

    Parameters
    ----------
    application : Application, optional
        What it answers; subclasses may set `application` before `start` instead.
    host : str
        Address to listen on.
    port : int
        0 for a free one.
    latency : float
        Seconds before every answer.
    bandwidth : float, optional
        Bytes of body per second and connection.
    tls : ssl.SSLContext, optional
        The server's certificate and key; then it speaks https.

    Attributes
    ----------
    faults : Faults
        Faults to show; empty at first.
    log : RequestLog
        Every request.
    errors : list of str
        Tracebacks of failures inside the application and of faults' actions; `close` raises when
        there are any.
    on_error : callable
        Is given each of these as it happens, in the thread that failed; does nothing at first.
    effects : Effects
        What is done to every answer: the latency and bandwidth given above.
    tls : ssl.SSLContext or None
        As given above.
    """

    def __init__(
        self,
        application: Application | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        latency: float = 0.0,
        bandwidth: float | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.application = application
        self.tls = tls
        self.faults = Faults()
        self.log = RequestLog()
        self.errors: list[str] = []
        self.on_error: Callable[[str], object] = lambda error: None
        self.effects = Effects(latency=latency, bandwidth=bandwidth)
        self.stopping = threading.Event()
        self._address = (host, port)
        self._listener: socket.socket | None = None
        self._acceptor: threading.Thread | None = None
        self._connections: dict[Connection, threading.Thread] = {}
        self._lock = threading.Lock()

    @property
    def port(self) -> int:
        """The port that is listened on.

        Raises
        ------
        RuntimeError
            When the server has not been started.
        """
        if self._listener is None:
            raise RuntimeError("the server is not running: use it in a with statement, or call start()")
        return int(self._listener.getsockname()[1])

    @property
    def base_url(self) -> str:
        """``http://host:port``, or https, without a slash at the end."""
        return f"{'https' if self.tls else 'http'}://{self._address[0]}:{self.port}"

    def start(self) -> Self:
        """Begin to listen.

        Raises
        ------
        OSError
            When the address is in use or not ours; its text names the port.
        """
        try:
            self._listener = socket.create_server(self._address, backlog=_BACKLOG)
        except OSError as error:
            host, port = self._address
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise OSError(error.errno, f"port {port} of {host}: {reason}") from None
        self.stopping.clear()
        self._acceptor = threading.Thread(target=self._accept, name="loopback-accept", daemon=True)
        self._acceptor.start()
        return self

    def close(self) -> None:
        """Stop, close every connection and wait for the threads.

        Raises
        ------
        RuntimeError
            When the application failed on a request since the start.
        """
        if self._listener is None or self._acceptor is None:
            return
        self.stopping.set()
        self._wake_acceptor()
        self._acceptor.join()
        self._listener.close()
        self._listener = None
        with self._lock:
            connections = dict(self._connections)
        for connection in connections:
            connection.interrupt()
        for thread in connections.values():
            thread.join()
        if self.errors:
            raise RuntimeError("the server failed on a request:\n" + "\n".join(self.errors))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except RuntimeError:
            if error is None:  # never hide what the test itself says
                raise

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the server runs."""
        if seconds > 0:
            self.stopping.wait(seconds)

    def respond(self, request: Request, effects: Effects) -> Response:
        """Answer by the application, or by 500 and an entry in `errors` when it fails."""
        if self.application is None:
            raise RuntimeError("the server has no application")
        try:
            if effects.status is not None:
                return altered(self.application.refuse(request, effects), request, effects)
            return altered(self.application.respond(request, effects), request, effects)
        except Exception:  # noqa: BLE001  (reported by close, whatever it is)
            self._note_error()
            return Response(500, {"Content-Type": "text/plain"}, b"the server failed; see its errors")

    def _accept(self) -> None:
        assert self._listener is not None  # noqa: S101  (set by start)
        number = 0
        while True:
            client, _ = self._listener.accept()
            if self.stopping.is_set():
                client.close()
                return
            number += 1
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._begin(Connection(self, client, number), number)

    def _begin(self, connection: Connection, number: int) -> None:
        thread = threading.Thread(
            target=self._serve, args=(connection,), name=f"loopback-{number}", daemon=True
        )
        with self._lock:
            self._connections[connection] = thread
        thread.start()

    def _serve(self, connection: Connection) -> None:
        try:
            connection.serve()
        except Exception:  # noqa: BLE001  (reported by close, whatever it is)
            self._note_error()
        finally:
            with self._lock:
                self._connections.pop(connection, None)

    def _note_error(self) -> None:
        self.errors.append(traceback.format_exc())
        self.on_error(self.errors[-1])

    def _wake_acceptor(self) -> None:
        # Closing a listening socket does not wake accept() everywhere; a connection does.
        with contextlib.suppress(OSError), socket.create_connection((self._address[0], self.port)):
            pass
