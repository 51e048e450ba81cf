"""What of a run is done so far, how fast, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from shadowzarr.catalog.estimate import cost_by_size
from shadowzarr.catalog.jobs import IndexNews
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.formatting import format_bytes, format_seconds


@dataclass
class Tally:
    """What has been done so far, and the news of what is being done.

    Attributes
    ----------
    total, total_bytes : int
        Assets of the plan and bytes of their files.
    effort : float
        What all of them take by their sizes, in units of which only shares matter.
    assets, failed : int
        Assets that have ended, and those of them that failed.
    chunks, nbytes : int
        Chunks and bytes of files of assets that were indexed.
    requests : int
        Requests for bytes to index assets that have ended.
    started : float
        By `time.monotonic`.
    current : dict
        News of assets in flight, by their ids.
    """

    total: int = 0
    total_bytes: int = 0
    effort: float = 0.0
    assets: int = 0
    failed: int = 0
    chunks: int = 0
    nbytes: int = 0
    requests: int = 0
    started: float = field(default_factory=time.monotonic)
    current: dict[str, IndexNews] = field(default_factory=dict)
    _effort_done: float = 0.0

    @classmethod
    def of(cls, work: Iterable[AssetWork]) -> Tally:
        """A tally of planned work, of which nothing is done."""
        sizes = [each.asset.size for each in work]
        return cls(len(sizes), sum(sizes), sum(map(_effort, sizes)))

    def add(self, record: IndexRecord) -> None:
        """Count an asset that ended."""
        self.current.pop(record.asset_id, None)
        self.assets += 1
        self.failed += record.outcome == "failed"
        self.chunks += record.counts.chunks
        self.nbytes += record.size if record.outcome != "failed" else 0
        self.requests += int(record.statistics.get("requests", 0))
        self._effort_done += _effort(record.size)

    @property
    def chunks_so_far(self) -> int:
        """Chunks, those of assets in flight included."""
        return self.chunks + sum(each.chunks for each in list(self.current.values()))

    @property
    def bytes_so_far(self) -> int:
        """Bytes of files, the referenced ones of assets in flight included."""
        return self.nbytes + sum(each.bytes for each in list(self.current.values()))

    @property
    def requests_so_far(self) -> int:
        """Requests, those for assets in flight included."""
        return self.requests + sum(each.requests for each in list(self.current.values()))

    @property
    def seconds(self) -> float:
        """Time since the first asset."""
        return max(time.monotonic() - self.started, 0.001)

    @property
    def eta_seconds(self) -> float | None:
        """Seconds until all is done, at the speed so far; None before the first asset has ended."""
        if not self._effort_done:
            return None
        return self.seconds * max(self.effort - self._effort_done, 0.0) / self._effort_done

    def text(self) -> str:
        """Say how much that is, and what is left: chunks, bytes, speed, requests, time, failures."""
        parts = [
            f"{self.chunks_so_far:,} chunks",
            format_bytes(self.bytes_so_far),
            f"{self.assets / self.seconds:.1f} assets/s",
        ]
        if self.requests_so_far:
            parts.append(f"{self.requests_so_far / self.seconds:,.1f} requests/s")
        if self.assets < self.total and self.eta_seconds is not None:
            parts.append(f"{format_seconds(self.eta_seconds)} left")
        return ", ".join(parts + ([f"{self.failed:,} failed"] if self.failed else []))


def _effort(size: int) -> float:
    return cost_by_size(size).seconds
