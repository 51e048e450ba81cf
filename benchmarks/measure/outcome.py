"""What one run of a contender gave, and which of several runs counts (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.serving.serial_depth import serial_depth
from benchmarks.serving.timed_request import TimedRequest


@dataclass(frozen=True)
class Outcome:
    """One run.

    Attributes
    ----------
    seconds : float or None
        None for a run that gave no result.
    note : str
        Why there is none, or what is wrong with it; empty when all is well.
    cpu : float
        Seconds of CPU time.
    requests, nbytes : int
        What the server sent.
    depth, rounds : int
        As in `SerialDepth`.
    rss_before, peak_rss : int
        Bytes, after the imports and in the end.
    answer : JSON
        What the contender found.
    ranges : list of (str, int, int)
        Path, offset and length of each request.
    """

    seconds: float | None
    note: str = ""
    cpu: float = 0.0
    requests: int = 0
    nbytes: int = 0
    depth: int = 0
    rounds: int = 0
    rss_before: int = 0
    peak_rss: int = 0
    answer: Any = None
    ranges: list[tuple[str, int, int]] = field(default_factory=list, repr=False)


def outcome_of(result: dict[str, Any], in_flight: int | None, turn_around: float) -> Outcome:
    """Read what the contender's process has written."""
    log = [TimedRequest(**each) for each in result["log"]]
    depth = serial_depth(log, in_flight, turn_around)
    return Outcome(
        seconds=result["seconds"],
        cpu=result["cpu"],
        requests=len(log),
        nbytes=sum(each.length for each in log),
        depth=depth.depth,
        rounds=depth.rounds,
        rss_before=result["rss_before"],
        peak_rss=result["peak_rss"],
        answer=result["answer"],
        ranges=[(each.path, each.offset, each.length) for each in log],
    )


def median(outcomes: Sequence[Outcome]) -> Outcome:
    """The run in the middle; one without a result, when there is one, since it is no chance."""
    failed = [each for each in outcomes if each.seconds is None or each.note]
    if failed:
        return failed[0]
    ordered = sorted(outcomes, key=lambda each: each.seconds or 0.0)
    return ordered[(len(ordered) - 1) // 2]
