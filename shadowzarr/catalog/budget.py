"""Work by a budget: the oldest first, so much in a run, and the rest in another.

Nothing has to be remembered between runs: what is done has its record, and the next run plans the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
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


def work_within(plan: Plan, budget: Budget | None) -> Iterator[AssetWork]:
    """Give the work of a plan until the time of the budget is over; the rest is left for later then."""
    started = time.monotonic()
    for count, work in enumerate(list(plan.work)):
        is_over = budget is not None and budget.seconds is not None and _since(started) >= budget.seconds
        if count and is_over and budget is not None:
            _leave(plan, count, f"the budget of {budget.seconds:,.0f} seconds for a run")
            return
        yield work


def _since(started: float) -> float:
    return time.monotonic() - started


def _leave(plan: Plan, count: int, why: str) -> None:
    plan.skipped += [skipped_asset(work.asset, LEFT_FOR_LATER, why) for work in plan.work[count:]]
    del plan.work[count:]
