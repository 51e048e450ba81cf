"""Prefect's temporary server: one process for one run, which ends when the run does.

Prefect can start such a server itself, but one that outlives a killed run, and whose end nobody notices:
every request is then tried again for a minute.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from shadowzarr.errors import ChildStartError

ROOT = Path(__file__).resolve().parents[1]
HOST = "127.0.0.1"
START_SECONDS = 600.0
"""Long, because a process that ends is noticed at once; a busy machine takes minutes."""
END_SECONDS = 5.0
SETTINGS = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}


class TemporaryServer:
    """Prefect's API in a process that ends with this one, however that comes about.

    Attributes
    ----------
    api_url : str
        Where it listens.
    """

    def __init__(self) -> None:
        self._is_stopping = threading.Event()
        self._errors: IO[bytes] = tempfile.TemporaryFile("a+b")  # noqa: SIM115 (closed in stop)
        line_read, self._life_line = os.pipe()
        with socket.create_server((HOST, 0)) as listener:
            self._port = listener.getsockname()[1]
            theirs = (listener.fileno(), line_read)
            try:
                self._process = subprocess.Popen(  # noqa: S603 (our own module)
                    [sys.executable, "-m", f"{__package__}.serve_prefect", *map(str, theirs)],
                    pass_fds=theirs,
                    env=_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=self._errors,
                    stderr=self._errors,
                    start_new_session=True,  # an interrupt at the terminal is not for it
                )
            finally:
                os.close(line_read)
        self.api_url = f"http://{HOST}:{self._port}/api"

    def wait_until_ready(self) -> None:
        """Wait until it answers.

        Raises
        ------
        ChildStartError
            When it does not.
        """
        connection = http.client.HTTPConnection(HOST, self._port, timeout=START_SECONDS)
        try:
            connection.request("GET", "/api/health")
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            raise self._not_started(str(error) or type(error).__name__) from None
        finally:
            connection.close()
        if status != http.client.OK:
            raise self._not_started(f"it answers {status}")

    def watch(self, on_end: Callable[[str], None]) -> None:
        """Call a function, in a thread of its own, when the process ends before it is stopped."""
        threading.Thread(target=self._watch, args=(on_end,), daemon=True).start()

    def stop(self) -> None:
        """End the process."""
        self._is_stopping.set()
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._life_line)
        self._errors.close()

    def _watch(self, on_end: Callable[[str], None]) -> None:
        code = self._process.wait()
        if not self._is_stopping.is_set():
            on_end(_end_text(code))

    def _not_started(self, reason: str) -> ChildStartError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            reason = _end_text(self._process.wait(0.5))
        said = os.pread(self._errors.fileno(), 20_000, 0).decode(errors="replace").strip()
        last = said.rpartition("\n")[2]
        return ChildStartError(
            f"Prefect's temporary server could not be started: {reason}{': ' if last else ''}{last}; "
            "a server of your own can be named by PREFECT_API_URL",
            details=said,
        )


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, **SETTINGS, "PYTHONPATH": paths}


def _end_text(code: int) -> str:
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"
