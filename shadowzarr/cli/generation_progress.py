"""How far a generation is, on a terminal, and what it took in the end."""

from __future__ import annotations

from typing import Any, TextIO

from ..formatting import format_bytes, format_count
from .status_line import StatusLine


class GenerationProgress(StatusLine):
    """Hears of the events of a generation.

    Parameters
    ----------
    stream : text file, optional
        Where it shows them when that is a terminal; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._last: Any = None

    def __call__(self, event: Any) -> None:
        """Hear of an event."""
        self._last = event
        if self.is_due():
            self.show(progress_line(event))

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


def progress_line(event: Any) -> str:
    """One line for an event: the stage, and what was read of a remote file so far."""
    read = f", {format_count(event.requests, 'request')}, {format_bytes(event.bytes_read)} read"
    if event.stage == "read_ahead":
        return f"metadata: level {event.levels:,}, {format_count(event.nodes, 'node')}{read}"
    done = f"{event.stage}: {event.objects:,} of {format_count(event.total, 'object')}"
    return done + (read if event.requests else "")
