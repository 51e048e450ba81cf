"""The answers of an object store to GET and HEAD, as S3 gives them (pure but for what is sent later).

Which objects there are, and who may read them, is left to the servers.
"""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from xml.sax.saxutils import escape

from ..access.content_types import DEFAULT_TYPE
from ..refs.byte_range import FileRange
from .byte_ranges import parse_range, resolve_range
from .faults import Effects
from .http_messages import FilePart, Request, Response

_XML = {"Content-Type": "application/xml"}
_HTML = {"Content-Type": "text/html"}
_CODES = {
    400: ("InvalidRequest", "The request is not valid."),
    403: ("AccessDenied", "Access Denied"),
    404: ("NoSuchKey", "The specified key does not exist."),
    405: ("MethodNotAllowed", "The specified method is not allowed against this resource."),
    412: ("PreconditionFailed", "At least one of the pre-conditions you specified did not hold"),
    416: ("InvalidRange", "The requested range is not satisfiable"),
    429: ("TooManyRequests", "Please reduce your request rate."),
    500: ("InternalError", "We encountered an internal error. Please try again."),
    503: ("SlowDown", "Please reduce your request rate."),
}


@dataclass(frozen=True)
class StoredObject:
    """One object.

    Attributes
    ----------
    content : Path or bytes
        Its bytes, or the file that holds them.
    size : int
        Number of bytes.
    etag : str
        In double quotes, as in the header.
    modified : float
        Seconds since 1970.
    content_type : str
        ``Content-Type`` of the answer.
    """

    content: Path | bytes
    size: int
    etag: str
    modified: float
    content_type: str = DEFAULT_TYPE


def object_response(request: Request, effects: Effects, stored: StoredObject) -> Response:
    """Answer GET or HEAD of an object: conditions first, then the range.

    Several ranges in one header give the whole object.
    """
    etag = effects.etag or stored.etag
    condition = None if effects.ignore_conditions else _condition(request, etag)
    if condition is not None:
        return condition
    headers = {
        "Last-Modified": formatdate(stored.modified, usegmt=True),
        "ETag": etag,
        "Accept-Ranges": "bytes",
        "Content-Type": stored.content_type,
    }
    asked = None if effects.ignore_range else parse_range(request.headers.get("range"))
    if asked is None:
        return Response(200, headers, _part(stored, FileRange(0, stored.size)))
    part = resolve_range(asked, stored.size)
    if part is None:
        refusal = error_response(416, fields={"ActualObjectSize": str(stored.size)})
        refusal.headers["Content-Range"] = f"bytes */{stored.size}"
        return refusal
    headers["Content-Range"] = f"bytes {part.offset}-{part.stop - 1}/{stored.size}"
    return Response(206, headers, _part(stored, part))


def error_response(
    status: int,
    *,
    code: str | None = None,
    message: str | None = None,
    fields: dict[str, str] | None = None,
) -> Response:
    """Give an error in the store's XML.

    Parameters
    ----------
    status : int
        HTTP status.
    code, message : str, optional
        As S3 names and words it; by default what is usual for the status.
    fields : dict, optional
        Further elements.
    """
    usual = _CODES.get(status, ("InternalError", "We encountered an internal error."))
    elements = {"Code": code or usual[0], "Message": message or usual[1], **(fields or {})}
    elements["RequestId"] = "STANDIN0000000000"
    inner = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in elements.items())
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{inner}</Error>'
    return Response(status, dict(_XML), body.encode())


def refusal(effects: Effects) -> Response:
    """Give the error that a fault asks for, in XML or HTML."""
    status = effects.status or 500
    response = html_error(status) if effects.html else error_response(status)
    if effects.retry_after is not None:
        response.headers["Retry-After"] = str(effects.retry_after)
    return response


def html_error(status: int) -> Response:
    """Give an error page as a proxy in front of a service shows it."""
    text = f"<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>\n"
    return Response(status, dict(_HTML), text.encode())


def _condition(request: Request, etag: str) -> Response | None:
    wanted = request.headers.get("if-match")
    if wanted is not None and not _names(wanted, etag):
        return error_response(412, fields={"Condition": "If-Match"})
    known = request.headers.get("if-none-match")
    if known is not None and _names(known, etag):
        return Response(304, {"ETag": etag})
    return None


def _names(header: str, etag: str) -> bool:
    """Compare strictly: an ETag without its double quotes is another one."""
    tags = [tag.strip() for tag in header.split(",")]
    return tags == ["*"] or etag in tags


def _part(stored: StoredObject, part: FileRange) -> bytes | FilePart:
    if isinstance(stored.content, bytes):
        return stored.content[part.offset : part.stop]
    return FilePart(stored.content, part.offset, part.length)
