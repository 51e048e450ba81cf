"""What a browser is told about a file by its name: its type, and how long it may be kept."""

from __future__ import annotations

from typing import Final

DEFAULT_TYPE: Final = "binary/octet-stream"
"""What S3 says of an object that nobody told it about."""

_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "parquet": "application/vnd.apache.parquet",
}


def content_type(name: str) -> str:
    """Return the ``Content-Type`` of a file; of an unknown one, what S3 says by default."""
    return _TYPES.get(name.rpartition(".")[2].lower(), DEFAULT_TYPE)


def cache_control(name: str) -> str | None:
    """Return the ``Cache-Control`` of a file: pages name what is theirs, so they are asked for anew."""
    return "no-cache" if name.lower().endswith(".html") else None
