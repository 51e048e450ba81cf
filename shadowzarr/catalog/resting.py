"""Assets that wait to be tried again; they keep nobody from being begun meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from .plan import AssetWork


class Resting:
    """Knows which assets rest between two tries.

    Whoever tries again does that inside of `trying`; who does not, never has anything resting.

    Attributes
    ----------
    errors : int
        Errors that may pass, so far.
    """

    def __init__(self) -> None:
        self._assets: set[tuple[str, str, str]] = set()
        self.errors = 0
        self._tell: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return len(self._assets)

    def listen(self, tell: Callable[[], None]) -> None:
        """Have something called, from any thread, when an asset begins to rest."""
        self._tell = tell

    @contextlib.contextmanager
    def trying(self, work: AssetWork) -> Iterator[None]:
        """Try an asset inside; after an error that may pass it rests until it is tried again or ended."""
        self.ended(work)
        try:
            yield
        except Exception as error:
            if getattr(error, "transient", False):
                self.errors += 1
                self._assets.add(_key(work))
                self._tell()
            raise

    def ended(self, work: AssetWork) -> None:
        """Note that an asset does not rest, or not any more."""
        self._assets.discard(_key(work))


def _key(work: AssetWork) -> tuple[str, str, str]:
    return (work.asset.dandiset, work.asset.version, work.asset.path)
