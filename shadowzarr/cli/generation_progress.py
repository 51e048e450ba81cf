"""How far a generation is, on a terminal, and what it took in the end."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

from ..formatting import format_bytes, format_count

_PAUSE = 0.1
"""Seconds between two lines that replace each other."""

_WIDTH = 79


class GenerationProgress:
    """Hears of the events of a generation.

    Parameters
    ----------
    stream : text file, optional
        Where it shows them when that is a terminal; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = self._stream is not None and self._stream.isatty()
        self._next = 0.0
        self._last: Any = None

    def __call__(self, event: Any) -> None:
        """Hear of an event."""
        self._last = event
        if self._is_shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE
            self._show(progress_line(event))

    def __enter__(self) -> GenerationProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            self._show("")

    def counts(self) -> dict[str, int]:
        """What was read of a remote file, as data; noughts for a local one."""
        event = self._last
        return {
            "requests": 0 if event is None else event.requests,
            "bytes_read": 0 if event is None else event.bytes_read,
        }

    def took(self) -> str:
        """What was read of a remote file; empty for a local one."""
        event = self._last
        if event is None or not event.requests:
            return ""
        rounds = format_count(event.levels, "round")
        nodes = format_count(event.nodes, "node")
        return (
            f"took {format_count(event.requests, 'request')}, {format_bytes(event.bytes_read)} read; "
            f"{nodes} of metadata in {rounds}"
        )

    def _show(self, line: str) -> None:
        self._stream.write(f"\r{line[:_WIDTH]:{_WIDTH}}\r{line[:_WIDTH]}")
        self._stream.flush()


def progress_line(event: Any) -> str:
    """One line for an event: the stage, and what was read of a remote file so far."""
    read = f", {format_count(event.requests, 'request')}, {format_bytes(event.bytes_read)} read"
    if event.stage == "read_ahead":
        return f"metadata: level {event.levels:,}, {format_count(event.nodes, 'node')}{read}"
    done = f"{event.stage}: {event.objects:,} of {format_count(event.total, 'object')}"
    return done + (read if event.requests else "")
