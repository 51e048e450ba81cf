"""How long the chain of requests is that had to wait for each other (pure).

Requests that do not overlap are a chain: each started after the one before it had ended. A client that
keeps at most so many requests under way makes such chains also where nothing depended on anything, only
because every place was taken. Those waits are told apart: a request that started as soon as a place was
free could have started when it began to wait for one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from .timed_request import TimedRequest


@dataclass(frozen=True)
class SerialDepth:
    """Length of the longest chain.

    Attributes
    ----------
    depth : int
        Without waits for a free place.
    rounds : int
        With them: what the wire saw.
    """

    depth: int
    rounds: int


def serial_depth(
    requests: Sequence[TimedRequest], in_flight: int | None = None, turn_around: float = 0.0
) -> SerialDepth:
    """Measure a log.

    Parameters
    ----------
    requests : sequence
        In any order.
    in_flight : int, optional
        The most requests that the client keeps under way; by default nothing counts as waiting for a
        place, and both numbers are the same.
    turn_around : float
        Seconds that the client may take to send what waits when a place becomes free.
    """
    times = sorted((each.start, each.end) for each in requests)
    rounds = longest_chain(times)
    if in_flight is None:
        return SerialDepth(rounds, rounds)
    return SerialDepth(longest_chain(without_waits(times, in_flight, turn_around)), rounds)


def longest_chain(times: Sequence[tuple[float, float]]) -> int:
    """The most intervals of which each starts after the one before it has ended.

    Taking always the interval that ends first is best, since it leaves most room for the others.
    """
    length, free = 0, float("-inf")
    for start, end in sorted(times, key=lambda each: each[1]):
        if start >= free:
            length, free = length + 1, end
    return length


def without_waits(
    times: Sequence[tuple[float, float]], in_flight: int, turn_around: float
) -> list[tuple[float, float]]:
    """Move requests that waited for one of `in_flight` places to where they began to wait.

    A request waited when, `turn_around` before it started, all places were taken. Those that wait are
    served in their order, so that it began to wait no earlier than the request before it.
    """
    ends = sorted(end for _, end in times)
    moved: list[tuple[float, float]] = []
    for number, (start, end) in enumerate(times):
        taken = number - bisect_right(ends, start - turn_around)
        waited = bool(moved) and taken >= in_flight
        moved.append((moved[-1][0] if waited else start, end))
    return moved
