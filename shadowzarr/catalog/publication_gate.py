"""A gate that publications pass, so that a run that is stopped cuts none of them in two."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from ..errors import PoolClosedError


class PublicationGate:
    """Lets any number of threads through, until it is shut."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._is_shut = False

    @contextlib.contextmanager
    def passing(self) -> Iterator[None]:
        """Publish inside.

        Raises
        ------
        PoolClosedError
            When the gate is shut.
        """
        with self._changed:
            if self._is_shut:
                raise PoolClosedError("the run is being stopped")
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def shut(self, *, timeout: float) -> bool:
        """Let nobody in any more, and wait so many seconds for those inside; True when all have left."""
        with self._changed:
            self._is_shut = True
            return self._changed.wait_for(lambda: not self._inside, timeout)
