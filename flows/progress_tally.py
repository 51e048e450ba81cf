"""What of a run is done so far, how fast, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from shadowzarr.catalog.estimate import cost_by_size
from shadowzarr.catalog.jobs import IndexNews
from shadowzarr.catalog.plan import AssetWork
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.formatting import format_bytes, format_count, format_seconds


@dataclass
class Tally:
    """What has been done so far, and the news of what is being done.

    Attributes
    ----------
    total, total_bytes : int
        Things to be done and bytes of their files; no bytes where they are not known.
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
    plural : str
        What the things are called.
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
    plural: str = "assets"
    _effort_done: float = 0.0

    @classmethod
    def of(cls, work: Iterable[AssetWork]) -> Tally:
        """A tally of planned work, of which nothing is done."""
        return cls.of_sizes([each.asset.size for each in work], "assets")

    @classmethod
    def of_sizes(cls, sizes: Sequence[int], plural: str) -> Tally:
        """A tally of things of so many bytes, 0 where that is not known, of which nothing is done."""
        return cls(len(sizes), sum(sizes), sum(map(_effort, sizes)), plural=plural)

    def add(self, record: IndexRecord) -> None:
        """Count an asset that ended."""
        self.current.pop(record.asset_id, None)
        self.chunks += record.counts.chunks
        self.requests += int(record.statistics.get("requests", 0))
        self.count(record.size, is_failed=record.outcome == "failed")

    def count(self, size: int, *, is_failed: bool) -> None:
        """Count a thing that ended."""
        self.assets += 1
        self.failed += is_failed
        self.nbytes += 0 if is_failed else size
        self._effort_done += _effort(size)

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
        """Say how much that is, as far as it is known, how fast, what is left, and what failed."""
        parts = [format_count(self.chunks_so_far, "chunk")] if self.chunks_so_far else []
        parts += [format_bytes(self.bytes_so_far)] if self.total_bytes else []
        parts.append(f"{self.assets / self.seconds:.1f} {self.plural}/s")
        if self.requests_so_far:
            parts.append(f"{self.requests_so_far / self.seconds:,.1f} requests/s")
        if self.assets < self.total and self.eta_seconds is not None:
            parts.append(f"{format_seconds(self.eta_seconds)} left")
        return ", ".join(parts + ([f"{self.failed:,} failed"] if self.failed else []))


def _effort(size: int) -> float:
    return cost_by_size(size).seconds
