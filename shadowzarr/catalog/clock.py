"""Times as records and reports hold them."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the time as ``2026-01-02T03:04:05.678Z``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
