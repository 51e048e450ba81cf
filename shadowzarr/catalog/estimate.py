"""What a plan will take: requests, bytes, time and money, by what earlier assets of like size took.

Without earlier records the estimate is made from sizes alone, and says so.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ..access.locations import is_remote
from ..errors import InvalidReferencesError
from .asset_window import BlobKey, blob_key
from .layout import OutputLayout
from .plan import AssetWork, Plan
from .records import IndexRecord, load_record

MOST_RECORDS: Final = 500
"""Records that are read; of more, so many are taken evenly from all."""

LIKE_IT: Final = 9
"""Records whose sizes are nearest to an asset's, of which the mean is taken."""

GIB: Final = 2**30


@dataclass(frozen=True)
class AssetCost:
    """What one asset took, or will take: requests and bytes read to index it, seconds, bytes written."""

    requests: float = 0.0
    bytes_read: float = 0.0
    seconds: float = 0.0
    bytes_written: float = 0.0

    @property
    def is_local(self) -> bool:
        """Whether the file was read from a disk; of one that is hosted besides, a byte is asked for."""
        return self.bytes_read <= 1


@dataclass(frozen=True)
class Prices:
    """What things cost, in one currency: a thousand requests, a GiB read, an hour of the machine."""

    per_thousand_requests: float = 0.0
    per_gib_read: float = 0.0
    per_hour: float = 0.0
    currency: str = "USD"

    @property
    def are_given(self) -> bool:
        """Whether anything has a price."""
        return bool(self.per_thousand_requests or self.per_gib_read or self.per_hour)


@dataclass(frozen=True)
class Estimate:
    """What a plan will take.

    Attributes
    ----------
    assets : int
        Assets to be done.
    pointed : int
        Those of them whose references are made from known ones of the same blob.
    requests, bytes_read : int
        To index the others, of files that are read from servers; local files take none. What verification
        reads besides is in no record, and not in here.
    seconds : float
        Until all are done, without the start of an orchestrator.
    bytes_written : int
        Bytes of references.
    records : int
        Earlier records that it is made from; none: from sizes alone.
    cost : float, optional
        In the currency of the prices, when there are any.
    """

    assets: int
    pointed: int
    requests: int
    bytes_read: int
    seconds: float
    bytes_written: int
    records: int
    cost: float | None = None

    @property
    def basis(self) -> Literal["records", "sizes"]:
        """What it is made from."""
        return "records" if self.records else "sizes"


def estimate_plan(
    plan: Plan,
    layouts: Iterable[OutputLayout],
    *,
    concurrency: int,
    twins: Iterable[BlobKey] = (),
    prices: Prices | None = None,
) -> Estimate:
    """Estimate what a plan takes.

    Parameters
    ----------
    plan : Plan
    layouts : iterable of OutputLayout
        Outputs whose records tell what earlier assets took.
    concurrency : int
        Processes that work at once.
    twins : iterable
        Blobs that were indexed before.
    prices : Prices, optional
    """
    earlier = earlier_costs(layouts)
    by_place = {
        is_local: [(size, cost) for size, cost in earlier if cost.is_local == is_local]
        for is_local in (False, True)
    }
    known, costs, pointed = set(twins), [], 0
    for work in plan.work:
        is_known = blob_key(work) in known
        known.add(blob_key(work))
        pointed += is_known
        costs.append(_cost_of(work, by_place[_is_local(work)], is_known=is_known))
    requests = round(sum(cost.requests for cost in costs))
    bytes_read = round(sum(cost.bytes_read for cost in costs))
    # The longest asset is one piece, however many processes there are.
    longest = max((cost.seconds for cost in costs), default=0.0)
    seconds = max(longest, sum(cost.seconds for cost in costs) / concurrency)
    return Estimate(
        assets=len(costs),
        pointed=pointed,
        requests=requests,
        bytes_read=bytes_read,
        seconds=seconds,
        bytes_written=round(sum(cost.bytes_written for cost in costs)),
        records=sum(len(by_place[is_local]) for is_local in set(map(_is_local, plan.work))),
        cost=_price(requests, bytes_read, seconds, prices) if prices and prices.are_given else None,
    )


def earlier_costs(layouts: Iterable[OutputLayout]) -> list[tuple[int, AssetCost]]:
    """Sizes of assets that were indexed before and what each took, the smallest first."""
    files = [
        (layout.title, record.path, layout)
        for layout in layouts
        for records in layout.list_all().records.values()
        for record in records
        if record.outcome != "failed"
    ]
    step = max(1, math.ceil(len(files) / MOST_RECORDS))
    found = []
    for _, path, layout in sorted(files, key=lambda each: each[:2])[::step]:
        try:
            record = load_record(layout.store, layout.relative(path))
        except InvalidReferencesError:  # of another version: it tells this one nothing
            continue
        if "requests" in record.statistics and record.repointed_from is None:
            found.append((record.size, _cost_in(record)))
    return sorted(found, key=lambda each: each[0])


def cost_by_size(size: int, *, is_local: bool = False) -> AssetCost:
    """What an asset of a size takes as a rule, when no record tells.

    A rule of thumb: metadata of a file of some hundred objects are read in ten requests or so and are some
    hundred KiB, whatever the size; chunk indexes grow with it.
    """
    return AssetCost(
        requests=0 if is_local else 10 + size / (256 * 2**20),
        bytes_read=0 if is_local else min(size, 2**19 + size // 500),
        seconds=1.5 + size / (500 * 2**20),
        bytes_written=2**16 + size // 20_000,
    )


def _cost_in(record: IndexRecord) -> AssetCost:
    statistics = record.statistics
    return AssetCost(
        requests=statistics["requests"],
        bytes_read=statistics.get("bytes_read", 0.0),
        seconds=record.seconds,
        bytes_written=record.references_bytes,
    )


def _cost_of(work: AssetWork, earlier: Sequence[tuple[int, AssetCost]], *, is_known: bool) -> AssetCost:
    size = work.asset.size
    cost = _mean(_nearest(size, earlier)) if earlier else cost_by_size(size, is_local=_is_local(work))
    # References that are pointed anew are verified all the same, which is most of the time.
    return AssetCost(0.0, 0.0, cost.seconds / 2, cost.bytes_written) if is_known else cost


def _is_local(work: AssetWork) -> bool:
    return bool(work.asset.local_path) or not is_remote(work.url)


def _nearest(size: int, earlier: Sequence[tuple[int, AssetCost]]) -> list[AssetCost]:
    """Costs of the assets whose sizes are nearest by their ratio."""
    place = bisect.bisect_left(earlier, size, key=lambda each: each[0])
    around = earlier[max(0, place - LIKE_IT) : place + LIKE_IT]
    wanted = math.log(size + 1)
    around = sorted(around, key=lambda each: abs(math.log(each[0] + 1) - wanted))
    return [cost for _, cost in around[:LIKE_IT]]


def _mean(costs: Sequence[AssetCost]) -> AssetCost:
    number = len(costs)
    return AssetCost(
        sum(cost.requests for cost in costs) / number,
        sum(cost.bytes_read for cost in costs) / number,
        sum(cost.seconds for cost in costs) / number,
        sum(cost.bytes_written for cost in costs) / number,
    )


def _price(requests: int, bytes_read: int, seconds: float, prices: Prices) -> float:
    return (
        requests / 1000 * prices.per_thousand_requests
        + bytes_read / GIB * prices.per_gib_read
        + seconds / 3600 * prices.per_hour
    )
