"""When bytes may leave: one link of a given bandwidth, shared by all connections (pure)."""

from __future__ import annotations


class Link:
    """A link that sends one block after the other.

    Parameters
    ----------
    bandwidth : float or None
        Bytes per second; None for a link that never makes anything wait.
    """

    def __init__(self, bandwidth: float | None) -> None:
        self._bandwidth = bandwidth
        self._free = 0.0

    @property
    def is_limited(self) -> bool:
        """Whether anything ever waits."""
        return self._bandwidth is not None

    def book(self, now: float, nbytes: int) -> float:
        """Take the link for a block; gives the time at which its last byte has arrived."""
        if self._bandwidth is None:
            return now
        self._free = max(self._free, now) + nbytes / self._bandwidth
        return self._free
