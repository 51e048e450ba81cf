"""What a caller hears while references are generated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..access.traffic import current

Stage = Literal["read_ahead", "open", "inventory", "datasets", "attributes", "done"]


@dataclass(frozen=True, slots=True)
class GenerationEvent:
    """How far a generation has come; the last event has stage ``done`` and the totals.

    Attributes
    ----------
    stage : str
        ``read_ahead`` (of a remote file, after each round of requests), ``open``, ``inventory``,
        ``datasets``, ``attributes`` or ``done``.
    objects : int
        Objects of the file that are done in this stage; in ``done``, nodes of the document.
    total : int
        Objects that this stage will do; 0 while that is not known.
    chunks : int
        Chunks located or held so far.
    bytes : int
        Bytes of the source that the references point to so far.
    requests : int
        Requests made for bytes of remote files so far, of the source and of those that it leads to, and
        of its first bytes when its format was looked at; see `shadowzarr.access.traffic`.
    bytes_read : int
        Bytes that came by them.
    levels : int
        Rounds of requests for a remote source's metadata so far; each had to wait for the one before.
    nodes : int
        Nodes of the metadata looked at in them.
    retries : int
        How often a request was tried again, those that ask an archive where a file is included.
    """

    stage: Stage
    objects: int = 0
    total: int = 0
    chunks: int = 0
    bytes: int = 0
    requests: int = 0
    bytes_read: int = 0
    levels: int = 0
    nodes: int = 0
    retries: int = 0


def event_now(
    stage: Stage,
    objects: int = 0,
    total: int = 0,
    *,
    chunks: int = 0,
    nbytes: int = 0,
    levels: int = 0,
    nodes: int = 0,
) -> GenerationEvent:
    """Make an event with the requests that were counted so far; arguments as the event's attributes."""
    traffic = current()
    return GenerationEvent(
        stage,
        objects,
        total,
        chunks,
        nbytes,
        traffic.requests,
        traffic.nbytes,
        levels,
        nodes,
        traffic.retries,
    )


ProgressCallback = Callable[[GenerationEvent], None]
