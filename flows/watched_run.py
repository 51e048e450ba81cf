"""A run as it is seen from outside while it goes on: what it shows, who ends it, who hears how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .json_lines import JsonLines
    from .notify import Notifier
    from .stop_run import RunStop


@dataclass(kw_only=True)
class WatchedRun:
    """A run that a command has begun.

    Attributes
    ----------
    stop : RunStop, optional
        What ends the run from outside.
    notifier : Notifier, optional
        Tells somebody how the run ended.
    json_lines : JsonLines, optional
        Takes what is told of the run's progress, when a program is to read it.
    has_prefect_server : bool
        Whether a server that outlives the run keeps account of it.
    stays : str
        What there is to say of a run that is stopped, in half a sentence.
    let_go : callable
        Gives back what a run holds that is stopped.
    hush : callable
        Ends the display of progress.
    report_stop : callable
        Tells whoever keeps account of the run why it was stopped.
    """

    stop: RunStop | None = None
    notifier: Notifier | None = None
    json_lines: JsonLines | None = None
    has_prefect_server: bool = False
    stays: str = ""
    let_go: Callable[[], None] = lambda: None
    hush: Callable[[], None] = lambda: None
    report_stop: Callable[[str], None] = lambda reason: None

    @property
    def how_far(self) -> str:
        """How far the run came, in half a sentence."""
        return self.stays

    def leave(self) -> None:
        """Leave the outputs as they should be when the run is stopped."""
        self.let_go()

    def wait_when_stopping(self) -> None:
        """Go no further when the run is being stopped: what comes in then is no result."""
        if self.stop is not None:
            self.stop.wait_when_stopping()


_WATCHED: ContextVar[WatchedRun | None] = ContextVar("watched_run", default=None)


def watched_run() -> WatchedRun:
    """Return the run that a command has begun and that goes on here, or a new one."""
    return _WATCHED.get() or WatchedRun()


@contextlib.contextmanager
def watching(run: WatchedRun) -> Iterator[None]:
    """Let a flow that is called inside go on with this run."""
    token = _WATCHED.set(run)
    if run.stop is not None:
        run.stop.run = run
    try:
        yield
    finally:
        run.wait_when_stopping()  # who stops it still needs what it holds
        if run.stop is not None:
            run.stop.run = None
        _WATCHED.reset(token)
