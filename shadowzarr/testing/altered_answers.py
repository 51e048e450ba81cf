"""Answers that a fault makes wrong after the application gave them right: headers, and a compressed body."""

from __future__ import annotations

import gzip
import re

from .faults import Effects
from .http_messages import FilePart, Request, Response

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


def altered(response: Response, request: Request, effects: Effects) -> Response:
    """Give an answer with the effects on its headers and its encoding; the answer itself is changed."""
    headers = response.headers
    if effects.location is not None:
        headers["Location"] = effects.location.replace("{path}", request.target)
    place = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
    if place is not None and effects.hide_range:
        del headers["Content-Range"]
    elif place is not None:
        first, last, total = map(int, place.groups())
        shift = effects.shift_start
        headers["Content-Range"] = f"bytes {first + shift}-{last + shift}/{total + effects.shift_total}"
    if effects.other_bytes and response.length:
        response.body = bytes(byte ^ 0xFF for byte in _whole(response.body))
    if effects.gzip and response.length:
        response.body = gzip.compress(_whole(response.body), 1)
        headers["Content-Encoding"] = "gzip"
    return response


def _whole(body: bytes | FilePart) -> bytes:
    if isinstance(body, bytes):
        return body
    with body.path.open("rb") as file:
        file.seek(body.offset)
        return file.read(body.length)
