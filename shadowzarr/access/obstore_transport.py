"""Byte ranges over obstore: the fast path, blocking or awaited.

One request per range and no retries of its own. obstore hides the status and headers of most refusals,
which then end in `RefusedWithoutReasonError`: the caller repeats the request over urllib3 to learn them.
After fork its runtime hangs, so that it is never used in a forked child.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import obstore
from obstore.exceptions import (
    BaseError,
    NotSupportedError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import HTTPStore, S3Store

from ..errors import ReadError, ShadowzarrError, UnsupportedError
from ..refs.byte_range import FileRange
from . import s3_locations
from .http_client import (
    CONNECT_TIMEOUT,
    READ_TIMEOUT,
    WHOLE_TIMEOUT,
    encoded_body,
    error_for_status,
    range_ignored,
    user_agent,
)
from .locations import without_query
from .source_identity import RangeAnswer

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

_MAX_STORES = 256  # each holds its own connections; making one costs 4 ms
_PLAIN_URL = re.compile(r"(?P<origin>https?://[^/?#@]+)/(?P<path>[A-Za-z0-9._~/-]+)", re.ASCII)
_process = {"is_forked": False}
_UNDER_WAY: set[object] = set()
"""One token for each awaited request; adding and removing are atomic."""
_SETTLE = 2.0  # seconds to wait at exit for requests that nobody waits for any more
_QUIET = 2  # looks in a row that find no thread at work


class RefusedWithoutReasonError(ReadError):
    """A request failed and obstore does not say how."""

    transient = True


def is_usable() -> bool:
    """Whether obstore may be used in this process: not in a forked child."""
    return not _process["is_forked"]


class ObstoreTransport:
    """Requests over obstore, one try each."""

    def __init__(self) -> None:
        self._stores: dict[str, HTTPStore | S3Store] = {}

    def get(self, address: str, wanted: FileRange | None, if_match: str | None) -> RangeAnswer:
        """Get one range or the whole file; holds no Python lock.

        Parameters
        ----------
        address : str
            An http(s) or ``s3://`` URL.
        wanted : FileRange or None
            The bytes; None for all.
        if_match : str or None
            A strong ETag that the file must have.

        Raises
        ------
        SourceChangedError, SourceNotFoundError, AccessDeniedError, ReadError
            What obstore tells apart.
        RefusedWithoutReasonError
            Any other failure.
        """
        store, path = self._store(address)
        try:
            result = obstore.get(store, path, options=_options(wanted, if_match))
            _check_encoding(result.attributes, address)
            return RangeAnswer(memoryview(result.bytes()), result.meta["size"], result.meta["e_tag"])
        except (BaseError, FileNotFoundError) as error:
            problem = _translate(error, address, wanted, if_match)
        raise problem  # outside of the handler: obstore's own message holds the query

    async def get_async(self, address: str, wanted: FileRange | None, if_match: str | None) -> RangeAnswer:
        """Like `get`, awaited in any event loop."""
        store, path = self._store(address)
        token = object()
        _UNDER_WAY.add(token)
        try:
            result = await obstore.get_async(store, path, options=_options(wanted, if_match))
            _check_encoding(result.attributes, address)
            data = await result.bytes_async()
            return RangeAnswer(memoryview(data), result.meta["size"], result.meta["e_tag"])
        except (BaseError, FileNotFoundError) as error:
            problem = _translate(error, address, wanted, if_match)
        finally:
            _UNDER_WAY.discard(token)
        raise problem

    def signed_url(self, address: str) -> str:
        """An http(s) URL, good for five minutes, of an ``s3://`` object that is read with signing."""
        store, path = self._store(address)
        if not isinstance(store, S3Store):
            raise UnsupportedError(f"{without_query(address)} is not read with signing")
        return obstore.sign(store, "GET", path, timedelta(minutes=5))

    def _store(self, address: str) -> tuple[HTTPStore | S3Store, str]:
        """The store for an address and the path in it.

        A dictionary without a lock: two threads may make a store twice, which does no harm.
        """
        bucket = ""
        if address.startswith("s3://"):
            bucket, path = s3_locations.split(address)
            key = f"s3://{bucket}"
        else:
            key, path = _store_and_path(address)
        store = self._stores.get(key)
        if store is None:
            store = _s3_store(bucket) if bucket else HTTPStore(key, **_client())
            while len(self._stores) >= _MAX_STORES:
                self._stores.pop(next(iter(self._stores)), None)
            self._stores[key] = store
        return store, path


def _store_and_path(address: str) -> tuple[str, str]:
    """The URL of a store for an http(s) address, and the path in it.

    Files of one host share a store where their names allow, and with it its connections. obstore has no
    query in a path and writes other characters in its own way, so that any other URL is a store by itself.
    """
    plain = _PLAIN_URL.fullmatch(address)
    if plain is None or any(part in ("", ".", "..") for part in plain["path"].split("/")):
        return address, ""
    return plain["origin"], plain["path"]


def _options(wanted: FileRange | None, if_match: str | None) -> Any:
    options: dict[str, object] = {}
    if wanted is not None:
        options["range"] = (wanted.offset, wanted.stop)
    if if_match is not None:
        options["if_match"] = if_match
    return options


def _check_encoding(attributes: Mapping[Any, str], address: str) -> None:
    encoding = attributes.get("Content-Encoding", "identity")
    if encoding.lower() != "identity":
        raise encoded_body(address, encoding)


def _client() -> dict[str, Any]:
    client: ClientConfig = {
        "allow_http": True,
        "user_agent": user_agent(),
        "connect_timeout": timedelta(seconds=CONNECT_TIMEOUT),
        "read_timeout": timedelta(seconds=READ_TIMEOUT),
        "timeout": timedelta(seconds=WHOLE_TIMEOUT),
    }
    retries: RetryConfig = {"max_retries": 0, "retry_timeout": timedelta(seconds=WHOLE_TIMEOUT)}
    return {"client_options": client, "retry_config": retries}


def _s3_store(bucket: str) -> S3Store:
    endpoint = s3_locations.endpoint()
    options: dict[str, Any] = {} if endpoint is None else {"endpoint": endpoint}
    return S3Store(bucket, **options, **_client())


def _translate(
    error: Exception, address: str, wanted: FileRange | None, if_match: str | None
) -> ShadowzarrError:
    if isinstance(error, PreconditionError):
        return error_for_status(412, address, if_match=if_match)
    if isinstance(error, FileNotFoundError) and "status code: 404" in str(error):  # 405 and 410 look alike
        return error_for_status(404, address)
    if isinstance(error, PermissionDeniedError):
        return error_for_status(403, address)
    if isinstance(error, UnauthenticatedError):
        return error_for_status(401, address)
    if isinstance(error, NotSupportedError) and wanted is not None and wanted.offset != 0:
        return range_ignored(address)
    return RefusedWithoutReasonError(f"{without_query(address)}: the request failed")


def _settle() -> None:
    """Let obstore's threads leave Python before the interpreter ends.

    Such a thread tells a loop that its answer is there, and waits for the interpreter's lock while the
    program goes on. When that is at its end by then, Python ends the thread and Rust aborts the process:
    every third of scripts that ended right after a read, on a busy machine.
    """
    until = time.monotonic() + _SETTLE
    quiet = 0
    while quiet < _QUIET and time.monotonic() < until:
        time.sleep(0.005)
        quiet = 0 if _UNDER_WAY or _telling_threads() else quiet + 1


def _telling_threads() -> list[int]:
    """Threads that Python did not start and that are inside of asyncio."""
    own = {thread.ident for thread in threading.enumerate()}
    frames = sys._current_frames().items()  # there is no other way to see them
    return [ident for ident, frame in frames if ident not in own and "asyncio" in frame.f_code.co_filename]


def _mark_forked() -> None:
    _process["is_forked"] = True
    _UNDER_WAY.clear()


os.register_at_fork(after_in_child=_mark_forked)
atexit.register(_settle)
