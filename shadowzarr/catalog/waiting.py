"""Assets that wait: dandisets take turns, and a host that is busy keeps nobody else waiting."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from .limits import host_of
from .plan import AssetWork


def in_turns(work: Sequence[AssetWork]) -> list[AssetWork]:
    """Put work into an order in which versions of dandisets take turns, so that a large one delays no other.

    Parameters
    ----------
    work : sequence of AssetWork
        Assets of one version keep their order; the version whose first one comes first begins.
    """
    queues: dict[tuple[str, str], deque[AssetWork]] = {}
    for each in work:
        queues.setdefault((each.asset.dandiset, each.asset.version), deque()).append(each)
    ordered: list[AssetWork] = []
    while queues:
        ordered += [queue.popleft() for queue in queues.values()]
        queues = {place: queue for place, queue in queues.items() if queue}
    return ordered


class Waiting:
    """Gives assets in their order, but for those of a host that has as many in flight as it may have.

    Parameters
    ----------
    work : iterable of AssetWork
        Taken from only when an asset is asked for.
    per_host : int, optional
        Assets of one host in flight; those on this machine are no host's.
    """

    def __init__(self, work: Iterable[AssetWork], *, per_host: int | None = None) -> None:
        self._work = iter(work)
        self._per_host = per_host
        self._busy: Counter[str] = Counter()
        self._held: dict[str, deque[AssetWork]] = {}

    def take(self) -> AssetWork | None:
        """Take the next asset that may be begun, which is in flight from then on; None when none may now."""
        for host, held in self._held.items():
            if held and self._is_free(host):
                return self._began(held.popleft())
        for work in self._work:
            if self._is_free(host_of(work)):
                return self._began(work)
            self._held.setdefault(host_of(work), deque()).append(work)
        return None

    def put_back(self, work: Iterable[AssetWork]) -> None:
        """Have assets wait again, before all others of their hosts."""
        for each in reversed(list(work)):
            self._held.setdefault(host_of(each), deque()).appendleft(each)

    def ended(self, work: AssetWork) -> None:
        """Note that an asset is no longer in flight."""
        self._busy[host_of(work)] -= 1

    def drain(self) -> list[AssetWork]:
        """Take all that waits, which is not in flight."""
        held = [work for queue in self._held.values() for work in queue]
        self._held.clear()
        return held + list(self._work)

    def _began(self, work: AssetWork) -> AssetWork:
        self._busy[host_of(work)] += 1
        return work

    def _is_free(self, host: str) -> bool:
        return self._per_host is None or not host or self._busy[host] < self._per_host
