"""Work by a budget: the oldest first, so much in a run, and the rest in another.

Nothing has to be remembered between runs: what is done has its record, and the next run plans the rest.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from .plan import AssetWork, Plan, skipped_asset
from .run_summary import LEFT_FOR_LATER


@dataclass(frozen=True)
class Budget:
    """What one run may take.

    Attributes
    ----------
    nbytes : int, optional
        Bytes of source files.
    seconds : float, optional
        Time after which no further asset is started.
    """

    nbytes: int | None = None
    seconds: float | None = None


def plan_within(plan: Plan, budget: Budget) -> None:
    """Put the work of a plan into order, the oldest first, and leave what its bytes do not allow for later.

    The first asset is always done, however large: it would never be otherwise. Assets whose time of
    modification is not known come first.
    """
    plan.work.sort(key=lambda work: (work.asset.modified, work.asset.dandiset, work.asset.path))
    if budget.nbytes is None:
        return
    used, count = 0, 0
    for work in plan.work:
        used += work.asset.size
        if count and used > budget.nbytes:
            break
        count += 1
    _leave(plan, count, f"the budget of {budget.nbytes:,} bytes for a run")


class TimeBudget:
    """Says whether a further asset may be started, and leaves the rest for later when the time is over.

    Parameters
    ----------
    plan : Plan
    budget : Budget, optional
        Without one, or without seconds in it, there is always time.
    """

    def __init__(self, plan: Plan, budget: Budget | None) -> None:
        self._plan = plan
        self._seconds = budget.seconds if budget is not None else None
        self._started = time.monotonic()
        self._has_begun = False

    def may_start(self) -> bool:
        """Whether there is time; always for the first asset, else a run would never do anything."""
        is_first, self._has_begun = not self._has_begun, True
        return self._seconds is None or is_first or _since(self._started) < self._seconds

    def leave(self, rest: Sequence[AssetWork]) -> None:
        """Take assets that were not started out of the plan."""
        if self._seconds is not None and rest:
            left = set(map(id, rest))
            self._plan.work[:] = [work for work in self._plan.work if id(work) not in left]
            why = f"the budget of {self._seconds:,.0f} seconds for a run"
            self._plan.skipped += [skipped_asset(work.asset, LEFT_FOR_LATER, why) for work in rest]


def _since(started: float) -> float:
    return time.monotonic() - started


def _leave(plan: Plan, count: int, why: str) -> None:
    plan.skipped += [skipped_asset(work.asset, LEFT_FOR_LATER, why) for work in plan.work[count:]]
    del plan.work[count:]
