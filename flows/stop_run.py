"""A run that is ended from outside: by a signal, or because the server it reports to is gone.

Nothing is unwound: an exception would have to find its way through Prefect, which asks its server about
everything and can take minutes. Instead a thread stops publications, kills the processes that read files,
clears staging, says how far the run came, and ends the process. Whatever goes wrong, the process ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .watched_run import WatchedRun

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CLEAR_SECONDS = 20.0
"""How long all of it may take."""
SIGNALLED = 128
"""What shells add to the number of the signal that ended a program."""
NOTHING_STARTED = "nothing was started; run again"


class RunStop:
    """Ends a run and this process with it.

    Attributes
    ----------
    run : WatchedRun, optional
        The run, once it is begun.
    """

    def __init__(self) -> None:
        self.run: WatchedRun | None = None
        self._once = threading.Lock()
        self._said = threading.Lock()
        self._message = ""
        self._ending: threading.Thread | None = None
        self._trouble: Exception | None = None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take signals as an order to stop, but for those that are ignored, as under ``nohup``."""
        before = {number: signal.getsignal(number) for number in SIGNALS}
        self.listen()
        try:
            yield
        finally:
            self.wait_when_stopping()
            if _is_main_thread():
                for number, handler in before.items():
                    signal.signal(number, handler)

    def listen(self) -> None:
        """Take signals; again when another library, such as Prefect, has taken them meanwhile."""
        if not _is_main_thread():
            return
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_signal)

    def stop(self, reason: str, *, exit_code: int) -> None:
        """End the process soon, from any thread; returns at once.

        Parameters
        ----------
        reason : str
            What a person reads first.
        exit_code : int
            Of this process.
        """
        if self._once.acquire(blocking=False):
            self._message = f"{reason}; {self._how_far()}"
            self._ending = threading.Thread(target=self._end, args=(reason, exit_code), daemon=True)
            self._ending.start()

    def wait_when_stopping(self) -> None:
        """Let nothing more happen when the process is about to end."""
        if self._ending is not None:
            self._ending.join()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        code = SIGNALLED + number
        if self._ending is not None:  # asked for twice: at once
            self._say(self._message)
            os._exit(code)
        self.stop(f"stopped by {signal.Signals(number).name}", exit_code=code)

    def _end(self, reason: str, exit_code: int) -> None:
        try:
            clearing = threading.Thread(target=self._clear, args=(reason, exit_code), daemon=True)
            clearing.start()
            clearing.join(CLEAR_SECONDS)
            if clearing.is_alive() or self._trouble is not None:
                why = self._trouble or "it took too long"
                self._say(f"{self._message} (not all was cleared up: {why}; the next run does)")
            else:
                self._say(self._message)
        finally:
            os._exit(exit_code)

    def _say(self, message: str) -> None:
        """Say it once, past Python's buffer, which another thread may hold."""
        if self._said.acquire(blocking=False):
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(sys.stderr.fileno(), f"{message}\n".encode())

    def _how_far(self) -> str:
        return NOTHING_STARTED if self.run is None else self.run.how_far

    def _clear(self, reason: str, exit_code: int) -> None:
        try:
            if self.run is not None:
                _clear_up(self.run, reason, by_hand=exit_code == SIGNALLED + signal.SIGINT)
        except Exception as error:  # noqa: BLE001 (the process ends; what is left undone is told)
            self._trouble = error


def _clear_up(run: WatchedRun, reason: str, *, by_hand: bool) -> None:
    """Leave the outputs as they should be; who pressed Ctrl-C knows of it, all others are told."""
    run.hush()
    run.leave()
    run.report_stop(reason)
    if run.notifier is not None and not by_hand:
        run.notifier.tell(f"{reason}.", has_prefect=run.has_prefect_server)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
