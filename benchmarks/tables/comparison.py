"""The tables of one measurement: first what matters of each row, then everything (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.contenders.environments import LIMIT, OURS
from benchmarks.measure.outcome import Outcome
from benchmarks.measure.rounds import best_peer

from . import figures

NONE = "–"


@dataclass(frozen=True)
class Comparison:
    """What all contenders did with one task.

    Attributes
    ----------
    title : str
        The task.
    outcomes : mapping
        By contender.
    asides : mapping
        Contenders that are no peers, and why.
    """

    title: str
    outcomes: Mapping[str, Outcome]
    asides: Mapping[str, str] = field(default_factory=dict)


def summary(comparisons: Sequence[Comparison], subject: str) -> str:
    """One row for each task: ratios, then counts, then seconds."""
    head = [subject, "faster than the best peer", "of the limit", "depth", "requests", "MB", "peak RSS, MB"]
    rows = [_summary_row(each) for each in comparisons]
    return figures.table([*head, "seconds", "best peer"], rows)


def details(comparisons: Sequence[Comparison]) -> str:
    """One table for each task, all contenders, the fastest first."""
    return "\n\n".join(f"**{each.title}**\n\n{_detail_table(each)}" for each in comparisons)


def _summary_row(comparison: Comparison) -> list[str]:
    outcomes = comparison.outcomes
    ours = outcomes[OURS]
    peer = best_peer(outcomes, {OURS, LIMIT, *comparison.asides})
    if ours.seconds is None or ours.note:
        return [comparison.title, ours.note or NONE, *[NONE] * 7]
    faster = figures.ratio((outcomes[peer].seconds or 0) / ours.seconds) if peer else NONE
    limit = outcomes.get(LIMIT)
    of_limit = figures.ratio(ours.seconds / limit.seconds) if limit and limit.seconds else NONE
    return [
        comparison.title,
        faster,
        of_limit,
        *_counts(ours),
        figures.megabytes(ours.peak_rss),
        figures.seconds(ours.seconds),
        peer or NONE,
    ]


def _counts(outcome: Outcome) -> list[str]:
    """Depth, requests and megabytes; dashes where nothing was asked of a server."""
    if not outcome.requests:
        return [NONE] * 3
    return [
        figures.depth(outcome.depth, outcome.rounds),
        f"{outcome.requests:,}",
        figures.megabytes(outcome.nbytes),
    ]


def _detail_table(comparison: Comparison) -> str:
    ours = comparison.outcomes[OURS].seconds
    ordered = sorted(comparison.outcomes.items(), key=lambda each: each[1].seconds or float("inf"))
    rows = [_detail_row(name, outcome, ours, comparison.asides.get(name, "")) for name, outcome in ordered]
    return figures.table(
        ["contender", "times ours", "depth", "requests", "MB", "peak RSS, MB", "seconds", "remark"], rows
    )


def _detail_row(name: str, outcome: Outcome, ours: float | None, aside: str) -> list[str]:
    if outcome.seconds is None:
        return [name, *[NONE] * 6, outcome.note]
    times = figures.ratio(outcome.seconds / ours) if ours else NONE
    return [
        name,
        times,
        *_counts(outcome),
        figures.megabytes(outcome.peak_rss),
        figures.seconds(outcome.seconds),
        outcome.note or aside,
    ]
