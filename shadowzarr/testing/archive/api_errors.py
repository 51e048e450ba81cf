"""Errors of the API: statuses and bodies as the archive words them."""

from __future__ import annotations

import json
from typing import Any

from ..http_messages import Response

_JSON = "application/json"
NO_CREDENTIALS = "Authentication credentials were not provided."
NO_PERMISSION = "You do not have permission to perform this action."


class ApiError(Exception):
    """Ends the answering of a request.

    Parameters
    ----------
    response : Response
        What is answered instead.
    """

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


class BadParameterError(ApiError):
    """A query parameter that makes no sense: 400 with its name."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(json_response({name: [message]}, status=400))


def json_response(document: Any, *, status: int = 200) -> Response:
    """Give a document as an answer."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return Response(status, {"Content-Type": _JSON}, text.encode())


def api_error(status: int, detail: str) -> ApiError:
    """Make an error with a ``detail``; 401 also says how to authenticate."""
    response = json_response({"detail": detail}, status=status)
    if status == 401:
        response.headers["WWW-Authenticate"] = "Token"
    return ApiError(response)


def throttled(seconds: int | str) -> Response:
    """Give the answer to one request too many."""
    detail = f"Request was throttled. Expected available in {seconds} seconds."
    response = json_response({"detail": detail}, status=429)
    response.headers["Retry-After"] = str(seconds)
    return response


def not_found_page() -> Response:
    """Give what the routing answers where there is no such address."""
    page = b"<!doctype html>\n<html><head><title>Not Found</title></head><body>Not Found</body></html>\n"
    return Response(404, {"Content-Type": "text/html"}, page)
