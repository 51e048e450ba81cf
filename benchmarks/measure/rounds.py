"""Several runs of several contenders, interleaved, so that a disturbance hits all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from .outcome import Outcome, median
from .run_contender import Contender

REPEATS = 3
LONG = 20.0
"""Seconds above which one run is enough."""


def interleaved(
    contenders: Sequence[Contender], run: Callable[[Contender], Outcome], *, repeats: int = REPEATS
) -> dict[str, Outcome]:
    """Run each contender once, then the short ones again; gives the median of each by name."""
    found: dict[str, list[Outcome]] = {each.name: [] for each in contenders}
    for number in range(repeats):
        for contender in contenders:
            if number == 0 or is_worth_repeating(found[contender.name]):
                found[contender.name].append(run(contender))
    return {name: median(outcomes) for name, outcomes in found.items()}


def is_worth_repeating(outcomes: Sequence[Outcome]) -> bool:
    """Whether the first run gave a result, and soon."""
    first = outcomes[0]
    return first.seconds is not None and not first.note and first.seconds <= LONG


def best_peer(outcomes: Mapping[str, Outcome], others: Collection[str]) -> str | None:
    """Name of the fastest contender with a right result that is not one of `others`."""
    peers = {
        name: each.seconds
        for name, each in outcomes.items()
        if name not in others and each.seconds is not None and not each.note
    }
    return min(peers, key=lambda name: peers[name]) if peers else None
