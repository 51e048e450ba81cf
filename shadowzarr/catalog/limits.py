"""How much may be asked of servers at once: of each host, and in all."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from .plan import AssetWork


@dataclass(frozen=True)
class Limits:
    """What a run may do at once.

    Each process works on one asset at a time, so that requests are shared out evenly between processes.

    Attributes
    ----------
    assets_per_host : int, optional
        Assets of one host in flight.
    requests : int, optional
        Requests for bytes under way, in all.
    requests_per_host : int, optional
        The same to one host.
    """

    assets_per_host: int | None = None
    requests: int | None = None
    requests_per_host: int | None = None

    def processes(self, concurrency: int) -> int:
        """Processes that may work: fewer when there are fewer requests than that."""
        return concurrency if self.requests is None else min(concurrency, self.requests)

    @property
    def assets_of_a_host(self) -> int | None:
        """Assets of one host that may be in flight: no more than it may be asked requests."""
        given = [each for each in (self.assets_per_host, self.requests_per_host) if each is not None]
        return min(given, default=None)

    def requests_each(self, concurrency: int) -> int | None:
        """Requests that one process may have under way; None for as many as it likes."""
        processes, shares = self.processes(concurrency), []
        if self.requests is not None:
            shares.append(self.requests // processes)
        if self.requests_per_host is not None:
            shares.append(self.requests_per_host // min(processes, self.assets_of_a_host or processes))
        return min(shares, default=None)


def host_of(work: AssetWork) -> str:
    """Name of the host that an asset is asked of; empty when its file lies on this machine."""
    return "" if work.asset.local_path else urlsplit(work.url).hostname or ""
