"""What browsers are told about reading from another origin (CORS), as an S3 bucket tells them.

HEAD is not allowed and only two headers can be read, so that a page which needs more is found out.
"""

from __future__ import annotations

from dataclasses import dataclass

from .http_messages import Request, Response

ANY = "*"
_VARY = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method"


@dataclass(frozen=True)
class CrossOrigin:
    """The one rule of a bucket; by default any origin may read.

    Attributes
    ----------
    origins : tuple of str
        Which may read, as browsers write them: ``http://localhost:3000``; ``*`` for any.
    methods : tuple of str
        Methods that are allowed.
    request_headers : tuple of str or None
        Lower-case names of headers a page may send; None for any.
    exposed : tuple of str
        Headers of the answer that a page may read.
    max_age : int
        Seconds for which a browser may remember a preflight.
    """

    origins: tuple[str, ...] = (ANY,)
    methods: tuple[str, ...] = ("GET",)
    request_headers: tuple[str, ...] | None = None
    exposed: tuple[str, ...] = ("Content-Range", "Content-Length")
    max_age: int = 3000

    def preflight(self, request: Request) -> Response | None:
        """Answer a browser's question; None when the request is none, or when it is denied."""
        method = request.headers.get("access-control-request-method")
        asked = request.headers.get("access-control-request-headers", "")
        allowed = self._allowed(request)
        if request.method != "OPTIONS" or allowed is None or method not in self.methods:
            return None
        names = [name.strip().lower() for name in asked.split(",") if name.strip()]
        if self.request_headers is not None and not set(names) <= set(self.request_headers):
            return None
        headers = {
            "Access-Control-Allow-Origin": allowed,
            "Access-Control-Allow-Methods": ", ".join(self.methods),
            "Access-Control-Max-Age": str(self.max_age),
            "Vary": _VARY,
        }
        if names:
            headers["Access-Control-Allow-Headers"] = ", ".join(names)
        return Response(200, headers)

    def headers(self, request: Request) -> dict[str, str]:
        """Give what is added to the answer to an ordinary request."""
        allowed = self._allowed(request)
        if allowed is None or request.method not in self.methods:
            return {}
        headers = {"Access-Control-Allow-Origin": allowed, "Vary": _VARY}
        if self.exposed:
            headers["Access-Control-Expose-Headers"] = ", ".join(self.exposed)
        return headers

    def _allowed(self, request: Request) -> str | None:
        """What the origin that asks is told; None when it may not read, or when none asks."""
        origin = request.headers.get("origin")
        if origin is None or ANY in self.origins:
            return None if origin is None else ANY
        return origin if origin in self.origins else None
