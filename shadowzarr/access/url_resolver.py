"""Download URLs of archives → the signed URLs behind them.

A download URL answers 302 to a signed URL of the object store, on another origin. It is asked without
following, with the archive's key when there is one, and the answer is kept for ten minutes or until it
expires by its own date. The key never goes anywhere else, and signed URLs are never shown.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urljoin, urlsplit
from weakref import WeakKeyDictionary

from ..errors import (
    AccessDeniedError,
    MissingCredentialsError,
    ReadError,
    ShadowzarrError,
)
from .archives import Archive, api_key, archive_of, asset_address, authorization
from .http_client import Retries, RetryPolicy, error_for_status
from .locations import without_query
from .traffic import current

if TYPE_CHECKING:
    from .urllib3_transport import Reply, Urllib3Transport

KEEP = 600.0
"""Seconds that a signed URL is kept; the archive signs for six hours."""
_MARGIN = 5.0  # seconds before its expiry from which a signed URL is not used
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_HOPS = 2  # the URL as given, and with a trailing slash
_MAX_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class _Resolved:
    address: str
    until: float  # time.monotonic()


class UrlResolver:
    """Keeps the signed URLs of one process.

    Parameters
    ----------
    transport : callable
        Gives what asks, when it is first needed.
    policy : callable
        Gives the retry policy for a request.
    """

    def __init__(self, transport: Callable[[], Urllib3Transport], policy: Callable[[], RetryPolicy]) -> None:
        self._transport = transport
        self._policy = policy
        self._resolved: dict[str, _Resolved] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._tasks: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Task[str]]]
        self._tasks = WeakKeyDictionary()

    def known(self, url: str) -> str | None:
        """Where the bytes of a URL are, as far as that can be said without asking."""
        if not is_resolved(url):
            return url
        kept = self._resolved.get(url)
        return kept.address if kept is not None and time.monotonic() < kept.until else None

    def resolve(self, url: str) -> str:
        """Where the bytes of a URL are; threads that ask at the same time share one request.

        Raises
        ------
        MissingCredentialsError
            When the archive wants a key, or refuses the one it was given.
        ReadError
            When the archive does not give an address.
        """
        address = self.known(url)
        if address is not None:
            return address
        with self._locks.setdefault(url, threading.Lock()):
            return self.known(url) or self.resolve_alone(url)

    def resolve_alone(self, url: str) -> str:
        """Like `resolve`, but waits for no other thread."""
        address = self.known(url)
        if address is None:
            address = self._ask(url)
            self._keep(url, address)
        return address

    async def resolve_async(self, url: str) -> str:
        """Like `resolve`, in an event loop; its tasks share one request."""
        address = self.known(url)
        if address is not None:
            return address
        tasks = self._tasks.setdefault(asyncio.get_running_loop(), {})
        task = tasks.get(url)
        if task is None:
            task = asyncio.create_task(asyncio.to_thread(self.resolve, url))
            tasks[url] = task
            task.add_done_callback(lambda _: tasks.pop(url, None))
        return await asyncio.shield(task)  # whoever gives up waiting must not stop the others

    def forget(self, url: str, address: str) -> None:
        """Drop an address that was refused, unless another has already taken its place."""
        kept = self._resolved.get(url)
        if kept is not None and kept.address == address:
            self._resolved.pop(url, None)

    def _keep(self, url: str, address: str) -> None:
        while len(self._resolved) >= _MAX_KEPT:
            self._resolved.pop(next(iter(self._resolved)), None)
        self._resolved[url] = _Resolved(address, time.monotonic() + lifetime(address))

    def _ask(self, url: str) -> str:
        retries = Retries(self._policy())
        while True:
            try:
                return self._follow(url)
            except ReadError as error:
                pause = retries.pause_after(error)
                current().retried()
                time.sleep(pause)

    def _follow(self, url: str) -> str:
        asked = url
        for _ in range(_MAX_HOPS):
            reply = self._transport().ask(asked, {"Range": "bytes=0-0", **authorization(asked)})
            if reply.status in {200, 206}:
                return asked  # a server that sends the bytes itself
            if reply.status not in _REDIRECTS:
                raise _refusal(url, reply)
            target = urljoin(asked, reply.headers.get("Location", ""))
            if target == asked or urlsplit(target).scheme not in {"http", "https"}:
                raise ReadError(
                    f"{without_query(url)}: redirected to {without_query(target)!r}, expected http(s)"
                )
            if target != asked + "/":
                return target
            asked = target  # the archive's own path, with the slash that was left away
        raise ReadError(f"{without_query(url)}: the archive redirects without end")


def is_resolved(url: str) -> bool:
    """Whether a URL redirects: an asset's download URL, or any under a registered archive's API."""
    if not url.startswith(("http://", "https://")):
        return False
    return asset_address(url) is not None or archive_of(url) is not None


def lifetime(address: str, *, now: datetime | None = None) -> float:
    """Seconds for which an address may be used.

    Parameters
    ----------
    address : str
        What a download URL led to.
    now : datetime, optional
        The time, for tests.

    Returns
    -------
    float
        At most `KEEP`; less when the query says so (``X-Amz-Date`` + ``X-Amz-Expires``), down to 0.
    """
    query = parse_qs(urlsplit(address).query)
    try:
        signed = datetime.strptime(query["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        expires = float(query["X-Amz-Expires"][0])
    except (KeyError, ValueError):
        return KEEP
    left = expires - ((now or datetime.now(UTC)) - signed).total_seconds()
    if left <= 0:  # it has only just been signed, so that our clock is wrong
        left = expires
    return max(0.0, min(KEEP, left - min(_MARGIN, expires / 10)))


def _refusal(url: str, reply: Reply) -> ShadowzarrError:
    if reply.status == 401:
        return _missing_key(url, archive_of(url))
    if reply.status == 403:
        return AccessDeniedError(
            f"{without_query(url)}: the archive refuses access (403); the owner of the key may not read it",
            status=403,
        )
    if reply.status == 400:
        return ReadError(
            f"{without_query(url)}: the archive gives no download (400); Zarr assets have none", status=400
        )
    return error_for_status(reply.status, url, headers=reply.headers)


def _missing_key(url: str, archive: Archive | None) -> ShadowzarrError:
    shown = without_query(url)
    if archive is None or archive.key_env is None:
        return MissingCredentialsError(
            f"{shown}: this archive wants an API key (401) and none is known for it; "
            "name the environment variable that holds it with register_archive(api_url, key_env=...)"
        )
    if api_key(url) is None:
        return MissingCredentialsError(f"{shown}: an API key is needed (401); set {archive.key_env}")
    return MissingCredentialsError(
        f"{shown}: the API key in {archive.key_env} is refused (401); check it, or unset it for open data"
    )
