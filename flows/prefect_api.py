"""The API that a run's flow reports to: a server that the settings name, or else a temporary one.

Either is watched, because Prefect itself tries every request again for a minute when its server is gone, of
every task, and a run would end minutes later in a traceback.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from shadowzarr.errors import UsageError

from .temporary_server import TemporaryServer

LOOK_SECONDS = 5.0
SILENT_SECONDS = 30.0
"""How long a server may be away; Prefect tries a request about as long."""
START_LOCK = "shadowzarr-server-start.lock"


@contextlib.contextmanager
def prefect_api(on_lost: Callable[[str], None]) -> Iterator[bool]:
    """Have an API for flows of this process.

    Parameters
    ----------
    on_lost : callable
        Called, from a thread, with a sentence when the API is gone before its time.

    Yields
    ------
    bool
        Whether it is a temporary one.

    Raises
    ------
    ChildStartError
        When it could not be started.
    UsageError
        When Prefect's home cannot be written.
    """
    from prefect.settings import PREFECT_API_URL

    with _quiet_logging():
        if PREFECT_API_URL.value():
            with watched(on_lost):
                yield False
        else:
            with _temporary(on_lost):
                yield True


@contextlib.contextmanager
def watched(on_lost: Callable[[str], None]) -> Iterator[None]:
    """Look now and then whether a served API answers; see `prefect_api`."""
    ended = threading.Event()

    def watch() -> None:
        silent_since = None
        while not ended.wait(LOOK_SECONDS):
            if answers():
                silent_since = None
                continue
            silent_since = silent_since or time.monotonic()
            if time.monotonic() - silent_since >= SILENT_SECONDS:
                on_lost(f"Prefect's server has not answered for {SILENT_SECONDS:.0f} s")
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def answers() -> bool:
    """Tell whether Prefect's API can be reached, whatever it answers."""
    import httpx
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        return not isinstance(client.api_healthcheck(), httpx.TransportError)


@contextlib.contextmanager
def _temporary(on_lost: Callable[[str], None]) -> Iterator[None]:
    import prefect.context
    from prefect.settings import PREFECT_HOME

    # Servers share Prefect's data base, and two cannot bring it up to date at once.
    with _one_at_a_time(PREFECT_HOME.value()):
        server = TemporaryServer()
        try:
            import prefect.flows
            import prefect.tasks  # while the server starts

            server.wait_until_ready()
        except BaseException:
            server.stop()
            raise
    server.watch(lambda how: on_lost(f"Prefect's temporary server is gone ({how})"))
    os.environ["PREFECT_API_URL"] = server.api_url
    prefect.context.refresh_global_settings_context()
    try:
        yield
    finally:
        del os.environ["PREFECT_API_URL"]
        server.stop()
        prefect.context.refresh_global_settings_context()


@contextlib.contextmanager
def _one_at_a_time(home: Path) -> Iterator[None]:
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = (home / START_LOCK).open("w")
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(
            f"Prefect cannot keep its data in {home}: {reason}; name another folder by PREFECT_HOME"
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _quiet_logging() -> Iterator[None]:
    """Let a log that its server does not take be no matter for the terminal."""
    before, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        yield
    finally:
        logging.raiseExceptions = before
