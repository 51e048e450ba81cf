"""A server for byte ranges of the files in a folder, answering as S3 does, faults included.

with RangeServer(folder) as server:
    server.url("sub-01/a.nwb")                                 # where to read the file
    server.faults.add(Fault(path="*.nwb", status=503, times=2))
    server.log.count(status=206), server.log.max_in_flight     # what was asked
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from ..access.content_types import DEFAULT_TYPE
from .cross_origin import CrossOrigin
from .digests import FileMemo, dandi_etag
from .faults import Effects
from .http_messages import Request, Response
from .http_server import LoopbackServer
from .object_responses import StoredObject, error_response, object_response, refusal

_EMPTY = "d41d8cd98f00b204e9800998ecf8427e"


def content_etag(path: Path) -> str:
    """Give the ETag of a file's bytes by the archive's multipart rule, without quotes."""
    return dandi_etag(path) if path.stat().st_size else _EMPTY


class RangeServer(LoopbackServer):
    """Serves the files below a folder.

    Files are looked up at each request, so that they may be added, replaced and removed while the
    server runs; symbolic links are followed. No file is loaded: ranges are read as they are sent.

    Parameters
    ----------
    folder : path
        What is served.
    host, port, latency, bandwidth, tls
        As for `LoopbackServer`: by default a free port of 127.0.0.1, no delay, no limit and no TLS.
    etag : callable or None
        Gives the ETag of a file, without quotes; called once per state of a file. By default that
        of its bytes, which are read once for it (holes of a sparse file are not). None for a server
        that sends no ETag and ignores ``If-Match``.
    cross_origin : CrossOrigin or None
        What browsers are allowed; None for no CORS headers at all.
    find : callable, optional
        Gives the file that a request is for, or None; by default the one of that name.
    content_type : callable, optional
        Gives the ``Content-Type`` of a file; by default what S3 says of an object that nobody told it about.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        latency: float = 0.0,
        bandwidth: float | None = None,
        etag: Callable[[Path], str] | None = content_etag,
        cross_origin: CrossOrigin | None = CrossOrigin(),  # noqa: B008  (immutable)
        find: Callable[[Request], Path | None] | None = None,
        content_type: Callable[[Path], str] = lambda path: DEFAULT_TYPE,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(host=host, port=port, latency=latency, bandwidth=bandwidth, tls=tls)
        self.folder = Path(folder).resolve()
        self.application = _Files(
            find or self._named, FileMemo(etag) if etag else None, cross_origin, content_type
        )

    def url(self, name: str = "") -> str:
        """Give the URL of a file, named relative to the folder with ``/``."""
        return f"{self.base_url}/{quote(name)}"

    def _named(self, request: Request) -> Path | None:
        name = request.path.lstrip("/")
        if "\0" in name or ".." in name.split("/"):
            return None
        path = self.folder / name
        return path if path.is_file() else None


class _Files:
    """The application of a `RangeServer`."""

    def __init__(
        self,
        find: Callable[[Request], Path | None],
        etag: Callable[[Path], str] | None,
        cross_origin: CrossOrigin | None,
        content_type: Callable[[Path], str],
    ) -> None:
        self._find, self._etag, self._cross_origin = find, etag, cross_origin
        self._content_type = content_type

    def respond(self, request: Request, effects: Effects) -> Response:
        if request.method == "OPTIONS":
            return self._preflight(request)
        if request.method not in ("GET", "HEAD"):
            return error_response(405)
        response = self._file(request, effects)
        return self._with_cross_origin(request, response)

    def refuse(self, request: Request, effects: Effects) -> Response:
        return self._with_cross_origin(request, refusal(effects))

    def _preflight(self, request: Request) -> Response:
        allowed = self._cross_origin.preflight(request) if self._cross_origin else None
        return allowed or error_response(
            403, code="AccessForbidden", message="CORSResponse: This CORS request is not allowed."
        )

    def _with_cross_origin(self, request: Request, response: Response) -> Response:
        if self._cross_origin:
            response.headers.update(self._cross_origin.headers(request))
        return response

    def _file(self, request: Request, effects: Effects) -> Response:
        path = self._find(request)
        if path is None:
            return error_response(404, fields={"Key": request.path.lstrip("/")})
        stat = path.stat()
        etag = f'"{self._etag(path)}"' if self._etag else ""
        stored = StoredObject(path, stat.st_size, etag, stat.st_mtime, self._content_type(path))
        if etag:
            return object_response(request, effects, stored)
        unconditional = Request(request.method, request.target, _without_conditions(request))
        response = object_response(unconditional, effects, stored)
        response.headers.pop("ETag", None)
        return response


def _without_conditions(request: Request) -> dict[str, str]:
    return {k: v for k, v in request.headers.items() if k not in ("if-match", "if-none-match")}
