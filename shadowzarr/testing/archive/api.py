"""The archive's API as an application: finds the function for an address and words its failures.

What each address answers is in `shadowzarr.testing.archive.routes`.
"""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Callable
from typing import Any

from ..cross_origin import CrossOrigin
from ..faults import Effects
from ..http_messages import Request, Response
from ..object_responses import html_error
from . import routes
from .api_errors import ApiError, json_response, not_found_page, throttled
from .archive import Archive
from .documents import Origins
from .folder import FolderArchive
from .permissions import caller
from .signing import UrlSigner

_GZIP_FROM = 200
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_PARTS = {
    "{d}": r"(?P<dandiset>\d{6})",
    "{v}": r"(?P<version>0\.\d{6}\.\d{4}|draft)",
    "{a}": f"(?P<asset_id>{_UUID})",
    "{z}": f"(?P<zarr_id>{_UUID})",
}
_READING = ("GET", "HEAD")
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
_CROSS_ORIGIN = CrossOrigin(methods=_METHODS, exposed=())
# The API names what it allows whatever is asked; it is the browser that then refuses the rest.
_PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": ", ".join(_METHODS),
    "Access-Control-Allow-Headers": "accept, authorization, content-type, user-agent, x-csrftoken",
    "Access-Control-Max-Age": "86400",
}

_Answer = Callable[..., Response]
_ROUTES: list[tuple[str, tuple[str, ...], _Answer]] = [
    ("info", _READING, routes.server_info),
    ("auth/token", _READING, routes.auth_token),
    ("dandisets", _READING, routes.list_dandisets),
    ("dandisets/{d}", _READING, routes.get_dandiset),
    ("dandisets/{d}/versions", _READING, routes.list_versions),
    ("dandisets/{d}/versions/{v}", _READING, routes.get_version),
    ("dandisets/{d}/versions/{v}/info", _READING, routes.get_version_info),
    ("dandisets/{d}/versions/{v}/assets", _READING, routes.list_assets),
    ("dandisets/{d}/versions/{v}/assets/paths", _READING, routes.list_paths),
    ("dandisets/{d}/versions/{v}/assets/{a}", _READING, routes.get_asset),
    ("dandisets/{d}/versions/{v}/assets/{a}/info", _READING, routes.get_asset_info),
    ("dandisets/{d}/versions/{v}/assets/{a}/validation", _READING, routes.get_asset_validation),
    ("dandisets/{d}/versions/{v}/assets/{a}/download", _READING, routes.download_asset),
    ("assets/{a}", _READING, routes.get_asset),
    ("assets/{a}/info", _READING, routes.get_asset_info),
    ("assets/{a}/validation", _READING, routes.get_asset_validation),
    ("assets/{a}/download", _READING, routes.download_asset),
    ("blobs/digest", ("POST",), routes.find_blob),
    ("zarr/{z}", _READING, routes.get_zarr),
    ("zarr/{z}/files", _READING, routes.list_zarr_files),
]


def _pattern(path: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        path = path.replace(name, part)
    return re.compile(f"/api/{path}/", re.ASCII)


_TABLE = [(_pattern(path), methods, answer) for path, methods, answer in _ROUTES]
# These show what the folder holds; a page after the first must not change under the client.
_LISTINGS = (routes.list_dandisets, routes.get_dandiset, routes.list_versions, routes.list_assets)


class ArchiveApi:
    """The application of the API server.

    Parameters
    ----------
    archive : Archive
        What is served. A `FolderArchive` is refreshed when a listing or a dandiset is asked for.
    signer : UrlSigner
        Makes the URLs that downloads redirect to.
    origins : callable
        Gives the two addresses as the client of a request reaches them.
    requests_per_minute : int, optional
        For requests without a key; more are answered by 429.
    """

    def __init__(
        self,
        archive: Archive,
        signer: UrlSigner,
        *,
        origins: Callable[[Request], Origins],
        requests_per_minute: int | None = None,
    ) -> None:
        self._archive, self._signer, self._origins = archive, signer, origins
        self._throttle = Throttle(requests_per_minute) if requests_per_minute else None

    def respond(self, request: Request, effects: Effects) -> Response:
        """Answer a request of the API."""
        try:
            response = self._respond(request)
        except ApiError as error:
            response = error.response
        return self._finish(request, response)

    def refuse(self, request: Request, effects: Effects) -> Response:
        """Give the error that a fault asks for, as JSON or as a proxy's page."""
        status = effects.status or 500
        if effects.html:
            response = html_error(status)
        elif status == 429:
            response = throttled(effects.retry_after or 1)
        else:
            response = json_response({"detail": f"Failed with status {status}."}, status=status)
        if effects.retry_after is not None:
            response.headers["Retry-After"] = str(effects.retry_after)
        return self._finish(request, response)

    def _respond(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(200, dict(_PREFLIGHT))
        found = _find(request.path)
        if found is None:
            return _slash_appended(request) or not_found_page()
        user = caller(request, self._archive)
        wait = self._throttle.wait() if self._throttle and user is None else 0
        if wait:
            return throttled(wait)
        names, methods, answer = found
        if request.method not in methods:
            detail = f'Method "{request.method}" not allowed.'
            return json_response({"detail": detail}, status=405)
        if answer in _LISTINGS and "page" not in request.parameters:
            self._refresh()
        with self._archive.lock:
            context = routes.Context(self._archive, request, user, self._origins(request), self._signer)
            return answer(context, **names)

    def _refresh(self) -> None:
        if isinstance(self._archive, FolderArchive):
            self._archive.refresh()

    def _finish(self, request: Request, response: Response) -> Response:
        response.headers.update(_CROSS_ORIGIN.headers(request))
        accepted = request.headers.get("accept-encoding", "")
        body = response.body
        if "gzip" in accepted and isinstance(body, bytes) and len(body) >= _GZIP_FROM:
            response.body = gzip.compress(body, compresslevel=1, mtime=0)
            response.headers["Content-Encoding"] = "gzip"
            response.headers["Vary"] = "Accept-Encoding, Origin"
        return response


class Throttle:
    """Counts requests per minute, in minutes that begin with the first request.

    Parameters
    ----------
    limit : int
        Requests that are let through in a minute.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begin = float("-inf")
        self._count = 0

    def wait(self) -> int:
        """Count a request; give 0, or the seconds to wait when it is one too many."""
        now = time.monotonic()
        if now - self._begin >= 60:
            self._begin, self._count = now, 0
        self._count += 1
        return 0 if self._count <= self._limit else max(1, round(self._begin + 60 - now))


def _find(path: str) -> tuple[dict[str, Any], tuple[str, ...], _Answer] | None:
    for pattern, methods, answer in _TABLE:
        match = pattern.fullmatch(path)
        if match:
            return match.groupdict(), methods, answer
    return None


def _slash_appended(request: Request) -> Response | None:
    """Redirect a path without its last slash, where there is something with it."""
    if request.method not in _READING or _find(f"{request.path}/") is None:
        return None
    path, mark, query = request.target.partition("?")
    return Response(301, {"Location": f"{path}/{mark}{query}", "Content-Type": "text/html"})
